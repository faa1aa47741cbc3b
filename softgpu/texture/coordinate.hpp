// From a coordinate to the texels of one axis, in the texture unit's fixed point.
#pragma once

#include <array>
#include <cstdint>

#include "softgpu/texture/texture.hpp"

namespace softgpu::texture {

inline constexpr std::int32_t kOutside = -1;  // the border's colour instead of a texel

// Two neighbours, perhaps the same, and the share of the second in 256ths.
struct Span {
  std::array<std::int32_t, 2> indices{};
  std::int32_t share = 0;
};

// Where a coordinate is, in 512ths of a texel. What is far outside comes nearer, without getting inside.
std::int32_t position(float coordinate, std::uint32_t size, AddressMode mode, bool normalized);

Span nearest(std::int32_t position, std::uint32_t size, AddressMode mode);
// The texels whose centres are around a position.
Span neighbours(std::int32_t position, std::uint32_t size, AddressMode mode);

// The texel that is shown at an index, or kOutside.
std::int32_t settle(std::int32_t index, std::uint32_t size, AddressMode mode);

}  // namespace softgpu::texture
