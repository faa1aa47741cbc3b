#include "softgpu/texture/coordinate.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace softgpu::texture {
namespace {

constexpr int kPositionBits = 9;

// Fractions of normalized coordinates have 21 bits, and those of large images as many as 64ths of a texel need.
int fraction_bits(std::uint32_t size) { return std::max(21, static_cast<int>(std::bit_width(size - 1)) + 6); }

// Wrapped and mirrored images repeat; further out than this all floats are even numbers.
constexpr float kAllEven = 0x1p25f;

std::int64_t fixed(float coordinate, int bits, AddressMode mode) {
  const auto one = std::int64_t{1} << bits;
  const bool repeats = mode == AddressMode::wrap || mode == AddressMode::mirror;
  if (repeats && !(std::abs(coordinate) < kAllEven)) return 0;
  if (!repeats) coordinate = std::clamp(coordinate, -2.0f, 3.0f);
  const auto value = static_cast<std::int64_t>(std::floor(coordinate * static_cast<float>(one)));
  if (!repeats) return value;
  return value & ((mode == AddressMode::wrap ? one : 2 * one) - 1);
}

}  // namespace

std::int32_t position(float coordinate, std::uint32_t size, AddressMode mode, bool normalized) {
  if (std::isnan(coordinate) || std::abs(coordinate) < std::numeric_limits<float>::min()) coordinate = 0;
  if (normalized) {
    const int bits = fraction_bits(size);
    return static_cast<std::int32_t>(fixed(coordinate, bits, mode) * size >> (bits - kPositionBits));
  }
  const float near = std::clamp(coordinate, -2.0f, static_cast<float>(size) + 2);
  return static_cast<std::int32_t>(std::floor(near * (1 << kPositionBits)));
}

std::int32_t settle(std::int32_t index, std::uint32_t size, AddressMode mode) {
  const auto count = static_cast<std::int32_t>(size);
  if (index >= 0 && index < count) return index;
  switch (mode) {
    case AddressMode::border: return kOutside;
    case AddressMode::wrap: return index < 0 ? index + count : index - count;
    case AddressMode::clamp: return index < 0 ? 0 : count - 1;
    case AddressMode::mirror: break;
  }
  if (index < 0) return -1 - index;
  return index < 2 * count ? 2 * count - 1 - index : index - 2 * count;
}

Span nearest(std::int32_t position, std::uint32_t size, AddressMode mode) {
  const std::int32_t index = settle(position >> kPositionBits, size, mode);
  return {{index, index}, 0};
}

Span neighbours(std::int32_t position, std::uint32_t size, AddressMode mode) {
  // Half a texel less, rounded to 256ths.
  const std::int32_t fixed = (position - 255) >> 1;
  const std::int32_t first = fixed >> 8;
  const Span span{{settle(first, size, mode), settle(first + 1, size, mode)}, fixed & 255};
  // Beyond the last centre a clamped image has no fraction either, which changes how the weights of a volume are
  // rounded.
  if (mode == AddressMode::clamp && span.indices[0] == span.indices[1]) return {span.indices, 0};
  return span;
}

}  // namespace softgpu::texture
