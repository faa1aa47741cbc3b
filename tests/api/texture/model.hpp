// Textures in plain C++, as the appendix "Texture Fetching" of the CUDA C++ Programming Guide has them, in double
// precision: what random textures are compared with.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "api/texture/fixture.hpp"

namespace cuprum::tests {

/// The texels of one array, as kernels read them.
struct ModelImage {
  std::vector<std::size_t> shape;
  int num_channels = 1;
  std::vector<double> values;  ///< of all channels of all texels

  std::size_t extent(std::size_t axis) const { return axis < shape.size() ? shape[axis] : 1; }
  double at(const std::array<long, 3>& index, int channel) const {
    const auto [x, y, z] = index;
    const auto texel = (static_cast<std::size_t>(z) * extent(1) + static_cast<std::size_t>(y)) * extent(0) +
                       static_cast<std::size_t>(x);
    return values[texel * static_cast<std::size_t>(num_channels) + static_cast<std::size_t>(channel)];
  }
};

inline double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// What kernels get of a channel that begins at `bytes`.
inline double channel_value(const std::byte* bytes, ArrayFormatType format, bool is_normalized) {
  const auto stored = [&]<typename T>(T value) {
    std::memcpy(&value, bytes, sizeof value);
    return value;
  };
  const auto scaled = [&](double value, double most) { return is_normalized ? std::max(value / most, -1.0) : value; };
  switch (format) {
    case ArrayFormatType::uint8: return scaled(stored(std::uint8_t{}), 255);
    case ArrayFormatType::uint16: return scaled(stored(std::uint16_t{}), 65535);
    case ArrayFormatType::uint32: return stored(std::uint32_t{});
    case ArrayFormatType::int8: return scaled(stored(std::int8_t{}), 127);
    case ArrayFormatType::int16: return scaled(stored(std::int16_t{}), 32767);
    case ArrayFormatType::int32: return stored(std::int32_t{});
    case ArrayFormatType::float16: return half_value(stored(std::uint16_t{}));
    case ArrayFormatType::float32: return static_cast<double>(stored(float{}));
  }
  return 0;
}

/// A texture of that image.
class ModelTexture {
 public:
  ModelTexture(const ModelImage& image, const TextureObjectOptions& options) : image_(image), options_(options) {}

  /// Where a coordinate is in texels, with wrapping and mirroring done.
  double in_texels(double coordinate, std::size_t axis) const {
    if (!options_.normalized_coords) return coordinate;
    const double whole = std::floor(coordinate), part = coordinate - whole;
    const AddressModeType mode = options_.address_mode[axis];
    if (mode == AddressModeType::wrap) coordinate = part;
    if (mode == AddressModeType::mirror) coordinate = std::fmod(whole, 2) == 0 ? part : 1 - part;
    return coordinate * static_cast<double>(image_.extent(axis));
  }

  double sample(const std::array<double, 3>& at, int channel) const {
    std::array<long, 3> first{};
    std::array<double, 3> share{};
    for (std::size_t axis = 0; axis < image_.shape.size(); ++axis) {
      const double texels = in_texels(at[axis], axis) - (is_linear() ? 0.5 : 0);
      first[axis] = static_cast<long>(std::floor(texels));
      share[axis] = is_linear() ? texels - std::floor(texels) : 0;
    }
    double sum = 0;
    for (unsigned corner = 0; corner < 8; ++corner) {
      std::array<long, 3> index = first;
      double weight = 1;
      for (unsigned axis = 0; axis < 3; ++axis) {
        const bool is_second = (corner >> axis & 1) != 0;
        index[axis] += is_second;
        weight *= is_second ? share[axis] : 1 - share[axis];
      }
      if (weight != 0) sum += weight * texel(index, channel);
    }
    return sum;
  }

 private:
  bool is_linear() const { return options_.filter_mode == FilterModeType::linear; }

  double texel(std::array<long, 3> index, int channel) const {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto size = static_cast<long>(image_.extent(axis));
      if (index[axis] >= 0 && index[axis] < size) continue;
      const AddressModeType mode = options_.address_mode[axis];
      if (mode == AddressModeType::border)
        return static_cast<double>(options_.border_color[static_cast<std::size_t>(channel)]);
      if (mode == AddressModeType::wrap && options_.normalized_coords)
        index[axis] = (index[axis] % size + size) % size;
      else
        index[axis] = std::clamp(index[axis], 0L, size - 1);
    }
    return image_.at(index, channel);
  }

  const ModelImage& image_;
  const TextureObjectOptions options_;
};

}  // namespace cuprum::tests
