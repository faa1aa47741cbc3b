#include <algorithm>
#include <bit>
#include <cmath>

#include "softgpu/texture/cube.hpp"
#include "softgpu/texture/texture.hpp"

namespace softgpu::texture {
namespace {

using abi::Geometry;

constexpr std::int32_t kOutside = -1;  // the border's colour instead of a texel
constexpr std::int32_t kWeightBits = 8;
constexpr std::int32_t kWeightOne = 1 << kWeightBits;

// For numbers that fit.
std::int32_t floor_to_int(float value) {
  const auto truncated = static_cast<std::int32_t>(value);
  return truncated - (value < static_cast<float>(truncated) ? 1 : 0);
}

// The texels of one axis that take part, and their weights.
struct Span {
  explicit Span(std::int32_t only = 0) : indices{only, only} {}
  Span(std::int32_t first, std::int32_t second, float share)
      : indices{first, second}, weights{1 - share, share}, count(share == 0 ? 1 : 2) {}

  std::array<std::int32_t, 2> indices;
  std::array<float, 2> weights{1, 0};
  unsigned count = 1;
};

std::int32_t settle(std::int32_t index, std::uint32_t size, AddressMode mode) {
  const auto count = static_cast<std::int32_t>(size);
  if (index >= 0 && index < count) return index;
  if (mode == AddressMode::border) return kOutside;
  if (mode == AddressMode::wrap) return index < 0 ? index + count : index - count;
  return index < 0 ? 0 : count - 1;  // a mirrored image goes on with the texel at the edge
}

constexpr float kBelowOne = 0x1.fffffep-1f;

// A coordinate in texels. Nothing is sampled more than a texel outside, so that far away is as good as two.
float in_texels(float coordinate, std::uint32_t size, AddressMode mode, bool normalized) {
  if (normalized) {
    if (mode == AddressMode::wrap || mode == AddressMode::mirror) {
      const float whole = std::floor(coordinate);
      coordinate = std::min(coordinate - whole, kBelowOne);  // which rounds to one just below a whole number
      if (mode == AddressMode::mirror && std::fmod(whole, 2.0f) != 0) coordinate = 1 - coordinate;
    }
    coordinate *= static_cast<float>(size);
  }
  if (std::isnan(coordinate)) return 0;
  return std::clamp(coordinate, -2.0f, static_cast<float>(size) + 2);
}

// Between texel `floor(fixed)` and the next one; `fixed` counts 256ths from the centre of the first texel on.
Span blended_span(float texels, std::uint32_t size, AddressMode mode) {
  const std::int32_t fixed = floor_to_int((texels - 0.5f) * kWeightOne + 0.5f);
  const std::int32_t first = fixed >> kWeightBits;
  const float share = static_cast<float>(fixed & (kWeightOne - 1)) / kWeightOne;
  return {settle(first, size, mode), settle(first + 1, size, mode), share};
}

Span span(const Sampler& sampler, float coordinate, std::uint32_t size, unsigned axis) {
  const AddressMode mode = sampler.address[axis];
  const float texels = in_texels(coordinate, size, mode, sampler.normalized_coordinates);
  if (sampler.filter == Filter::linear) return blended_span(texels, size, mode);
  return Span(settle(floor_to_int(texels), size, mode));
}

// Null outside.
const std::byte* texel_at(const Texture& texture, const Level& level, std::int32_t x, std::int32_t y, std::int32_t z) {
  if ((x | y | z) < 0) return nullptr;
  return level.row(static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(z)) +
         static_cast<std::size_t>(x) * texture.reader.bytes;
}

Words read(const Texture& texture, const std::byte* texel) {
  return texel != nullptr ? texture.reader.read(texel) : texture.sampler.border;
}

// A weighted sum of samples.
class Sum {
 public:
  void add(const Words& sample, float weight) {
    for (std::size_t k = 0; k < 4; ++k) sum_[k] += weight * std::bit_cast<float>(sample[k]);
  }
  Words words() const { return std::bit_cast<Words>(sum_); }

 private:
  std::array<float, 4> sum_{};
};

// Blends the texels that `texel_of(x, y, z)` finds at the corners.
template <typename TexelOf>
Words blend(const Texture& texture, const Span& x, const Span& y, const Span& z, TexelOf&& texel_of) {
  if (x.count * y.count * z.count == 1) return read(texture, texel_of(x.indices[0], y.indices[0], z.indices[0]));
  Corners corners;
  for (unsigned k = 0; k < z.count; ++k)
    for (unsigned j = 0; j < y.count; ++j)
      for (unsigned i = 0; i < x.count; ++i)
        corners.add(texel_of(x.indices[i], y.indices[j], z.indices[k]), x.weights[i] * y.weights[j] * z.weights[k]);
  return texture.reader.blend(corners, texture.sampler.border);
}

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

Words sample_cube(const Texture& texture, const Level& level, const Position& at) {
  const Direction direction = {at.x, at.y, at.z};
  const std::uint32_t face = face_of(direction);
  const FaceVector point = on_face(face, direction);
  const std::int32_t first_slice = 6 * layer_of(texture.image, at.layer);
  const auto texels = [&](float value) {
    return in_texels((value / point.major + 1) / 2, level.width, AddressMode::clamp, true);
  };
  const float x = texels(point.s), y = texels(point.t);
  if (texture.sampler.filter == Filter::point) {
    const auto index = [&](float value) { return settle(floor_to_int(value), level.width, AddressMode::clamp); };
    return read(texture, texel_at(texture, level, index(x), index(y), first_slice + static_cast<std::int32_t>(face)));
  }
  if (!texture.sampler.seamless_cube)
    return blend(texture, blended_span(x, level.width, AddressMode::clamp),
                 blended_span(y, level.width, AddressMode::clamp), Span(),
                 [&](std::int32_t i, std::int32_t j, std::int32_t) {
                   return texel_at(texture, level, i, j, first_slice + static_cast<std::int32_t>(face));
                 });
  // Spans of a row so long that no index is outside it: texel 1 is the face's texel 0.
  const auto around = [&](float value) { return blended_span(value + 1, level.width + 3, AddressMode::clamp); };
  return blend(texture, around(x), around(y), Span(), [&](std::int32_t i, std::int32_t j, std::int32_t) {
    return texel_around(texture, level, first_slice, face, i - 1, j - 1);
  });
}

Words sample_level(const Texture& texture, const Level& level, Geometry geometry, const Position& at) {
  if (geometry == Geometry::cube && texture.image.faces == 6) return sample_cube(texture, level, at);
  const Sampler& sampler = texture.sampler;
  const Span x = span(sampler, at.x, level.width, 0);
  const Span y = geometry == Geometry::line ? Span() : span(sampler, at.y, level.height, 1);
  Span z(layer_of(texture.image, at.layer));
  if (geometry == Geometry::volume && texture.image.layers() == 1) z = span(sampler, at.z, level.slices, 2);
  return blend(texture, x, y, z,
               [&](std::int32_t i, std::int32_t j, std::int32_t k) { return texel_at(texture, level, i, j, k); });
}

Words sample_between_levels(const Texture& texture, Geometry geometry, const Position& at, float detail) {
  const auto last = static_cast<float>(texture.image.level_count - 1);
  detail = std::clamp(std::isnan(detail) ? 0.0f : detail, 0.0f, last);
  const std::int32_t fixed = floor_to_int(detail * kWeightOne + 0.5f);
  const auto of_level = [&](std::int32_t index) {
    return sample_level(texture, texture.image.levels[static_cast<std::size_t>(index)], geometry, at);
  };
  if (texture.sampler.mipmap_filter == Filter::point) return of_level((fixed + kWeightOne / 2) >> kWeightBits);
  const std::int32_t first = fixed >> kWeightBits;
  const float share = static_cast<float>(fixed & (kWeightOne - 1)) / kWeightOne;
  if (share == 0) return of_level(first);
  Sum result;
  result.add(of_level(first), 1 - share);
  result.add(of_level(first + 1), share);
  return result.words();
}

Position moved(const Position& at, const std::array<float, 3>& along, float distance) {
  return {at.x + distance * along[0], at.y + distance * along[1], at.z + distance * along[2], at.layer};
}

// How many texels of the first level a step of one pixel crosses.
float texels_crossed(const Texture& texture, Geometry geometry, const Position& at, const std::array<float, 3>& step) {
  const Level& level = texture.image.levels[0];
  std::array<float, 3> size = {static_cast<float>(level.width), static_cast<float>(level.height),
                               static_cast<float>(level.slices)};
  if (!texture.sampler.normalized_coordinates) size = {1, 1, 1};
  if (geometry == Geometry::cube) {
    const Direction direction = {at.x, at.y, at.z};
    const std::uint32_t face = face_of(direction);
    const FaceVector point = on_face(face, direction), change = on_face(face, step);
    const float scale = static_cast<float>(level.width) / (2 * point.major * point.major);
    return scale *
           std::hypot(change.s * point.major - point.s * change.major, change.t * point.major - point.t * change.major);
  }
  const float y = geometry == Geometry::line ? 0 : step[1] * size[1];
  const float z = geometry == Geometry::volume ? step[2] * size[2] : 0;
  return std::hypot(step[0] * size[0], y, z);
}

}  // namespace

Words sample(const Texture& texture, Geometry geometry, const Position& at, float level) {
  if (texture.is_linear_memory) {
    const bool possible = at.x > -1 && at.x < 0x1p30f;
    return fetch(texture, geometry, {.x = possible ? floor_to_int(at.x) : -1}, 0);
  }
  if (texture.image.level_count == 1) return sample_level(texture, texture.image.levels[0], geometry, at);
  const Sampler& sampler = texture.sampler;
  const float biased = level + sampler.level_bias;
  return sample_between_levels(texture, geometry, at,
                               std::fmin(std::fmax(biased, sampler.min_level), sampler.max_level));
}

Words sample(const Texture& texture, Geometry geometry, const Position& at, const Gradients& gradients) {
  if (texture.image.level_count == 1 && texture.sampler.max_anisotropy <= 1) return sample(texture, geometry, at, 0.0f);
  const float x = texels_crossed(texture, geometry, at, gradients.dx);
  const float y = texels_crossed(texture, geometry, at, gradients.dy);
  const float longer = std::fmax(x, y), shorter = std::fmin(x, y);
  // A long and narrow footprint is covered by several samples along it, each of the detail that the narrow side needs.
  float samples = 1;
  if (texture.sampler.max_anisotropy > 1 && longer > shorter && geometry != Geometry::cube)
    samples =
        std::fmin(std::ceil(longer / std::fmax(shorter, 1.0f)), static_cast<float>(texture.sampler.max_anisotropy));
  const float level = std::log2(longer / samples);
  if (samples == 1) return sample(texture, geometry, at, level);
  Sum result;
  for (float k = 0; k < samples; ++k) {
    const float distance = (k + 0.5f) / samples - 0.5f;
    result.add(sample(texture, geometry, moved(at, x > y ? gradients.dx : gradients.dy, distance), level), 1 / samples);
  }
  return result.words();
}

Words fetch(const Texture& texture, Geometry geometry, const TexelIndex& at, std::int32_t level_index) {
  const Image& image = texture.image;
  const auto last = static_cast<std::int32_t>(image.level_count - 1);
  const Level& level = image.levels[static_cast<std::size_t>(std::clamp(level_index, 0, last))];
  if (texture.is_linear_memory) {
    if (at.x < 0 || static_cast<std::uint32_t>(at.x) >= level.width) return {};
    return read(texture, texel_at(texture, level, at.x, 0, 0));
  }
  const auto index = [&](std::int32_t i, std::uint32_t size, unsigned axis) {
    const bool border = texture.sampler.address[axis] == AddressMode::border;
    return settle(i, size, border ? AddressMode::border : AddressMode::clamp);
  };
  const std::int32_t y = geometry == Geometry::line ? 0 : index(at.y, level.height, 1);
  const bool volume = geometry == Geometry::volume && image.layers() == 1;
  const std::int32_t z = volume ? index(at.z, level.slices, 2) : layer_of(image, at.layer);
  return read(texture, texel_at(texture, level, index(at.x, level.width, 0), y, z));
}

Words gather(const Texture& texture, const Position& at, unsigned channel) {
  const Level& level = texture.image.levels[0];
  const Sampler& sampler = texture.sampler;
  const auto pair = [&](float coordinate, std::uint32_t size, unsigned axis) {
    const AddressMode mode = sampler.address[axis];
    return blended_span(in_texels(coordinate, size, mode, sampler.normalized_coordinates), size, mode);
  };
  const Span x = pair(at.x, level.width, 0), y = pair(at.y, level.height, 1);
  const std::int32_t z = layer_of(texture.image, at.layer);
  const auto of = [&](std::int32_t i, std::int32_t j) {
    return read(texture, texel_at(texture, level, i, j, z))[channel & 3];
  };
  return {of(x.indices[0], y.indices[1]), of(x.indices[1], y.indices[1]), of(x.indices[1], y.indices[0]),
          of(x.indices[0], y.indices[0])};
}

}  // namespace softgpu::texture
