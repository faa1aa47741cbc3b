// How the texture unit adds texels up: weights of 8 bits, and sums in fixed point or of few bits. The numbers are those
// that an H200 showed (docs/design/textures.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace softgpu::texture {

inline constexpr std::int32_t kWeightBits = 8;
inline constexpr std::int32_t kWeightOne = 1 << kWeightBits;

// The texels that a filter blends, with weights that add up to kWeightOne. What comes from one slice of one level is a
// group, added up on its own.
struct Corners {
  static constexpr unsigned kMost = 16, kGroups = 4;

  std::array<const std::byte*, kMost> texels;
  std::array<std::int32_t, kMost> weights;
  std::array<unsigned, kGroups> ends;  // where each group ends
  unsigned count = 0, groups = 0;

  void add(const std::byte* texel, std::int32_t weight) {
    if (weight == 0) return;
    texels[count] = texel;
    weights[count++] = weight;
  }
  void end_group() {
    if (count != (groups == 0 ? 0 : ends[groups - 1])) ends[groups++] = count;
  }
};

// A texel of floating point: mantissa * 2^exponent.
struct Scaled {
  std::int32_t mantissa;
  std::int32_t exponent;
};
// Further bits of a mantissa that survive being aligned with a larger one.
enum class GuardBits : std::int8_t { none = 0, four = 4 };
// How results are rounded: to so many bits, none of which is below 2^lowest.
struct Precision {
  int bits;
  int lowest;
};
// The weighted sum of the corners' values.
double blend_scaled(const Corners& corners, std::span<const Scaled> values, GuardBits guard, Precision precision);

}  // namespace softgpu::texture
