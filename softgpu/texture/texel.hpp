// What a texel is made of, and how it is read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "softgpu/texture/blend.hpp"

namespace softgpu::texture {

enum class ChannelType : std::uint8_t { u8, u16, u32, s8, s16, s32, f16, f32, unorm8, unorm16, snorm8, snorm16 };

constexpr unsigned channel_bytes(ChannelType type) {
  constexpr std::array<std::uint8_t, 12> kBytes = {1, 2, 4, 1, 2, 4, 2, 4, 1, 2, 1, 2};
  return kBytes[static_cast<std::size_t>(type)];
}
struct TexelFormat {
  ChannelType type = ChannelType::u8;
  std::uint8_t channels = 1;  // 1, 2 or 4

  unsigned bytes() const { return channels * channel_bytes(type); }
  bool operator==(const TexelFormat&) const = default;
};

// Four 32-bit registers' worth, integers or the bits of floats. Channels that the format lacks read 0.
using Words = std::array<std::uint32_t, 4>;

// The functions for one kind of texel, chosen once for a texture, so that reading never looks at the format.
struct TexelReader {
  unsigned bytes = 0;
  Words (*read)(const std::byte* texel) = nullptr;
  Words (*blend)(const Corners& corners) = nullptr;
  // The mean of several samples.
  Words (*average)(std::span<const Words> samples) = nullptr;
  // The texel that shows a border's colour: floats, or for what reads as integers their bits.
  void (*store)(const Words& colour, std::byte* texel) = nullptr;
};
inline constexpr unsigned kMaxTexelBytes = 16;

// How a texture's channels arrive in registers.
enum class Reading : std::uint8_t {
  element,     // integers as integers, floats as floats
  normalized,  // 8-bit and 16-bit integers as floats from 0 (or -1) to 1
  srgb,        // 8-bit unsigned ones as linear light; the fourth channel is linear already
};
TexelReader texel_reader(TexelFormat format, Reading reading);

float half_to_float(std::uint16_t bits);
std::uint16_t float_to_half_towards_zero(std::uint32_t bits);  // of a float's bits

}  // namespace softgpu::texture
