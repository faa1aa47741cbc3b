#include <algorithm>
#include <cmath>

#include "softgpu/texture/coordinate.hpp"
#include "softgpu/texture/cube.hpp"
#include "softgpu/texture/texture.hpp"

namespace softgpu::texture {
namespace {

using abi::Geometry;

// Also the border's.
const std::byte* texel_at(const Texture& texture, const Level& level, std::int32_t x, std::int32_t y, std::int32_t z) {
  if ((x | y | z) < 0) return texture.sampler.border.data();
  return level.row(static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(z)) +
         static_cast<std::size_t>(x) * texture.reader.bytes;
}

// The spans of all axes. Lines have no y; what has no z has a slice.
struct Box {
  Span x, y, z;
};

// Adds the corners of a slice, which share a weight. The halves that arise are rounded as an H200 does it.
template <typename TexelOf>
void add_slice(Corners& corners, const Box& box, std::int32_t z, std::int32_t weight, TexelOf&& texel_of) {
  constexpr std::int32_t kHalf = kWeightOne / 2;
  const auto [x, y] = std::pair(box.x.share, box.y.share);
  const std::int32_t right = (x * weight + kHalf) >> kWeightBits, left = weight - right;
  const std::int32_t lower_right = (right * y + kHalf) >> kWeightBits;
  const std::int32_t lower_left = (left * y + kHalf - 1) >> kWeightBits;
  corners.add(texel_of(box.x.indices[0], box.y.indices[0], z), left - lower_left);
  corners.add(texel_of(box.x.indices[1], box.y.indices[0], z), right - lower_right);
  corners.add(texel_of(box.x.indices[0], box.y.indices[1], z), lower_left);
  corners.add(texel_of(box.x.indices[1], box.y.indices[1], z), lower_right);
  corners.end_group();
}

template <typename TexelOf>
void add_corners(Corners& corners, const Box& box, std::int32_t weight, TexelOf&& texel_of) {
  const std::int32_t behind = (weight * box.z.share + kWeightOne / 2 - 1) >> kWeightBits;
  add_slice(corners, box, box.z.indices[0], weight - behind, texel_of);
  if (behind != 0) add_slice(corners, box, box.z.indices[1], behind, texel_of);
}

Span span(const Sampler& sampler, float coordinate, std::uint32_t size, unsigned axis) {
  const AddressMode mode = sampler.address[axis];
  const std::int32_t at = position(coordinate, size, mode, sampler.normalized_coordinates);
  return sampler.filter == Filter::linear ? neighbours(at, size, mode) : nearest(at, size, mode);
}

// For numbers that fit.
std::int32_t floor_to_int(float value) { return static_cast<std::int32_t>(std::floor(value)); }

Span only(std::int32_t index) { return {{index, index}, 0}; }

std::int32_t layer_of(const Image& image, std::uint32_t layer) {
  return static_cast<std::int32_t>(std::min(layer, image.layers() - 1));
}

// A texel of a face whose indices may be outside it, on the face that follows there.
const std::byte* texel_around(const Texture& texture, const Level& level, std::int32_t first_slice, std::uint32_t face,
                              std::int32_t x, std::int32_t y) {
  const auto size = static_cast<std::int32_t>(level.width);
  if (x < 0 || y < 0 || x >= size || y >= size) {
    const auto centre = [&](std::int32_t i) { return (2 * static_cast<float>(i) + 1) / static_cast<float>(size) - 1; };
    const Direction direction = direction_of(face, centre(x), centre(y));
    face = face_of(direction);
    const FaceVector point = on_face(face, direction);
    const auto index = [&](float value) {
      return std::clamp(floor_to_int((value / point.major + 1) / 2 * static_cast<float>(size)), 0, size - 1);
    };
    x = index(point.s);
    y = index(point.t);
  }
  return texel_at(texture, level, x, y, first_slice + static_cast<std::int32_t>(face));
}

void add_cube(Corners& corners, const Texture& texture, const Level& level, const Position& at, std::int32_t weight) {
  const Direction direction = scaled_to_cube({at.x, at.y, at.z});
  const std::uint32_t face = face_of(direction);
  const FaceVector point = on_face(face, direction);
  const std::int32_t first_slice = 6 * layer_of(texture.image, at.layer);
  const Sampler& sampler = texture.sampler;
  const bool seamless = sampler.filter == Filter::linear && sampler.seamless_cube;
  const auto place = [&](float value, unsigned axis) {
    return position(value * 0.5f + 0.5f, level.width, seamless ? AddressMode::clamp : sampler.address[axis], true);
  };
  const std::int32_t x = place(point.s, 0), y = place(point.t, 1);
  const auto on_this_face = [&](std::int32_t i, std::int32_t j, std::int32_t) {
    return texel_at(texture, level, i, j, first_slice + static_cast<std::int32_t>(face));
  };
  const auto inside = [&](std::int32_t value, unsigned axis) {
    const AddressMode mode = sampler.address[axis];
    return sampler.filter == Filter::linear ? neighbours(value, level.width, mode) : nearest(value, level.width, mode);
  };
  if (!seamless) return add_corners(corners, {inside(x, 0), inside(y, 1), Span()}, weight, on_this_face);
  // Spans of a row so long that no index is outside it: texel 1 is the face's texel 0.
  const auto around = [&](std::int32_t value) { return neighbours(value + 512, level.width + 3, AddressMode::clamp); };
  add_corners(corners, {around(x), around(y), Span()}, weight, [&](std::int32_t i, std::int32_t j, std::int32_t) {
    return texel_around(texture, level, first_slice, face, i - 1, j - 1);
  });
}

// Adds what is seen of a level.
void add_level(Corners& corners, const Texture& texture, const Level& level, Geometry geometry, const Position& at,
               std::int32_t weight) {
  if (geometry == Geometry::cube && texture.image.faces == 6) return add_cube(corners, texture, level, at, weight);
  const Sampler& sampler = texture.sampler;
  Box box{span(sampler, at.x, level.width, 0), Span(), only(layer_of(texture.image, at.layer))};
  if (geometry != Geometry::line)
    box.y = span(sampler, at.y, level.height, 1);
  else if (!texture.image.layered)
    box.y = span(sampler, 0, 1, 1);  // a line is a plane of one row, at whose edge its centre is not
  if (geometry == Geometry::volume && texture.image.layers() == 1) box.z = span(sampler, at.z, level.slices, 2);
  add_corners(corners, box, weight,
              [&](std::int32_t i, std::int32_t j, std::int32_t k) { return texel_at(texture, level, i, j, k); });
}

// Levels in 256ths. What is below one is cut off.
std::int32_t fixed_level(float level) {
  constexpr float kFar = 1024;  // more than there are
  return std::isnan(level) ? 0 : static_cast<std::int32_t>(std::clamp(level, -kFar, kFar) * kWeightOne);
}

Words sample_between_levels(const Texture& texture, Geometry geometry, const Position& at, std::int32_t detail) {
  const auto last = static_cast<std::int32_t>(texture.image.level_count - 1);
  detail = std::clamp(detail, 0, last * kWeightOne);
  const Sampler& sampler = texture.sampler;
  const bool blends_levels = sampler.mipmap_filter == Filter::linear;
  if (!blends_levels) detail = (detail + kWeightOne / 2) / kWeightOne * kWeightOne;
  const std::int32_t first = detail >> kWeightBits, share = detail & (kWeightOne - 1);
  Corners corners;
  const auto add = [&](std::int32_t index, std::int32_t weight) {
    const Level& level = texture.image.levels[static_cast<std::size_t>(index)];
    add_level(corners, texture, level, geometry, at, weight);
  };
  add(first, kWeightOne - share);
  if (share != 0) add(first + 1, share);
  if (sampler.filter == Filter::point && share == 0) return texture.reader.read(corners.texels[0]);
  return texture.reader.blend(corners);
}

Position moved(const Position& at, const std::array<float, 3>& along, float distance) {
  return {at.x + distance * along[0], at.y + distance * along[1], at.z + distance * along[2], at.layer};
}

using Step = std::array<float, 3>;

// A step of one pixel, in texels of the first level.
Step in_texels(const Texture& texture, Geometry geometry, const Position& at, const Step& step) {
  const Level& level = texture.image.levels[0];
  if (geometry == Geometry::cube) {
    const Direction direction = {at.x, at.y, at.z};
    const std::uint32_t face = face_of(direction);
    const FaceVector point = on_face(face, direction), change = on_face(face, step);
    const float scale = static_cast<float>(level.width) / (2 * point.major * point.major);
    return {scale * (change.s * point.major - point.s * change.major),
            scale * (change.t * point.major - point.t * change.major), 0};
  }
  const bool normalized = texture.sampler.normalized_coordinates;
  const auto scaled = [&](float value, std::uint32_t size) {
    return normalized ? value * static_cast<float>(size) : value;
  };
  return {scaled(step[0], level.width), geometry == Geometry::line ? 0 : scaled(step[1], level.height),
          geometry == Geometry::volume ? scaled(step[2], level.slices) : 0};
}

// The texture unit's idea of a length: the longest component and parts of the others, in 10 bits.
float length(const Step& step) {
  std::array<float, 3> parts = {std::abs(step[0]), std::abs(step[1]), std::abs(step[2])};
  std::sort(parts.begin(), parts.end());
  if (!(parts[2] > 0) || std::isinf(parts[2])) return parts[2];
  const float unit = std::ldexp(1.0f, std::ilogb(parts[2]) - 9);
  const auto whole = [&](float value) { return std::floor(value / unit); };
  return unit * (whole(parts[2]) + whole(parts[1] * (11.0f / 32)) + whole(parts[0] / 4));
}

// Of two steps, or of the diagonals between them.
float longest(const Step& x, const Step& y) {
  const Step sum = {x[0] + y[0], x[1] + y[1], x[2] + y[2]}, difference = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
  return std::fmax(std::fmax(length(x), length(y)), std::fmax(length(sum), length(difference)) * (11.0f / 16));
}

// The level whose texels are that long, in 256ths; the logarithm is that of the first 8 bits.
float level_of(float texels) {
  if (!(texels > 0) || std::isinf(texels)) return std::log2(texels);
  const int exponent = std::ilogb(texels);
  const float part = std::floor((std::ldexp(texels, -exponent) - 1) * 256);
  const float logarithm = std::floor(256 * std::log2(1 + (part + 0.5f) / 256) + 0.46875f);
  return static_cast<float>(exponent) + (part == 0 ? 0 : std::fmin(logarithm, 255.0f)) / 256;
}

}  // namespace

Words sample(const Texture& texture, Geometry geometry, const Position& at, float level) {
  if (texture.is_linear_memory) return {};  // which is read by index only
  if (texture.image.level_count == 1) return sample_between_levels(texture, geometry, at, 0);
  const Sampler& sampler = texture.sampler;
  const std::int32_t biased = fixed_level(level) + fixed_level(sampler.level_bias);
  const std::int32_t limited = std::min(biased, fixed_level(sampler.max_level));
  return sample_between_levels(texture, geometry, at, std::max(limited, fixed_level(sampler.min_level)));
}

Words sample(const Texture& texture, Geometry geometry, const Position& at, const Gradients& gradients) {
  if (texture.image.level_count == 1 && texture.sampler.max_anisotropy <= 1) return sample(texture, geometry, at, 0.0f);
  const Step right = in_texels(texture, geometry, at, gradients.dx),
             down = in_texels(texture, geometry, at, gradients.dy);
  if (texture.sampler.max_anisotropy <= 1) return sample(texture, geometry, at, level_of(longest(right, down)));
  const float x = length(right), y = length(down);
  const float longer = std::fmax(x, y), shorter = std::fmin(x, y);
  // A long and narrow footprint is covered by several samples along it, each of the detail that the narrow side needs.
  float count = 1;
  if (longer > shorter && geometry != Geometry::cube)
    count = std::fmin(std::ceil(longer / std::fmax(shorter, 1.0f)), static_cast<float>(texture.sampler.max_anisotropy));
  const float level = level_of(longer / count);
  if (count == 1) return sample(texture, geometry, at, level);
  std::array<Words, kMostAnisotropy> samples;
  for (unsigned k = 0; k < static_cast<unsigned>(count); ++k) {
    const float distance = (static_cast<float>(k) + 0.5f) / count - 0.5f;
    samples[k] = sample(texture, geometry, moved(at, x > y ? gradients.dx : gradients.dy, distance), level);
  }
  return texture.reader.average(std::span(samples).first(static_cast<std::size_t>(count)));
}

Words fetch(const Texture& texture, Geometry geometry, const TexelIndex& at, std::int32_t level_index) {
  const Image& image = texture.image;
  const auto last = static_cast<std::int32_t>(image.level_count - 1);
  const Level& level = image.levels[static_cast<std::size_t>(std::clamp(level_index, 0, last))];
  if (texture.is_linear_memory) {
    if (at.x < 0 || static_cast<std::uint32_t>(at.x) >= level.width) return {};
    return texture.reader.read(texel_at(texture, level, at.x, 0, 0));
  }
  // Outside there is nothing, and lines can only be read so from linear memory.
  const auto inside = [](std::int32_t i, std::uint32_t size) { return i >= 0 && static_cast<std::uint32_t>(i) < size; };
  const bool volume = geometry == Geometry::volume && image.layers() == 1;
  const bool line = geometry == Geometry::line;
  if ((line && !image.layered) || !inside(at.x, level.width) || (!line && !inside(at.y, level.height)) ||
      (volume ? !inside(at.z, level.slices) : at.layer >= image.layers()))
    return {};
  const std::int32_t z = volume ? at.z : static_cast<std::int32_t>(at.layer);
  return texture.reader.read(texel_at(texture, level, at.x, line ? 0 : at.y, z));
}

Words gather(const Texture& texture, const Position& at, unsigned channel) {
  if (texture.is_linear_memory) return {};  // which is read by index only
  const Level& level = texture.image.levels[0];
  const Sampler& sampler = texture.sampler;
  const auto pair = [&](float coordinate, std::uint32_t size, unsigned axis) {
    const AddressMode mode = sampler.address[axis];
    return neighbours(position(coordinate, size, mode, sampler.normalized_coordinates), size, mode);
  };
  const Span x = pair(at.x, level.width, 0), y = pair(at.y, level.height, 1);
  const std::int32_t z = layer_of(texture.image, at.layer);
  const auto of = [&](std::int32_t i, std::int32_t j) {
    return texture.reader.read(texel_at(texture, level, i, j, z))[channel & 3];
  };
  return {of(x.indices[0], y.indices[1]), of(x.indices[1], y.indices[1]), of(x.indices[1], y.indices[0]),
          of(x.indices[0], y.indices[0])};
}

}  // namespace softgpu::texture
