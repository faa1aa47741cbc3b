// What a texel is made of, and how it is read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace softgpu::texture {

enum class ChannelType : std::uint8_t { u8, u16, u32, s8, s16, s32, f16, f32, unorm8, unorm16, snorm8, snorm16 };

constexpr unsigned channel_bytes(ChannelType type) {
  constexpr std::array<std::uint8_t, 12> kBytes = {1, 2, 4, 1, 2, 4, 2, 4, 1, 2, 1, 2};
  return kBytes[static_cast<std::size_t>(type)];
}
// Channels that hold an integer by themselves: as floats they are read only where a texture asks for it.
constexpr bool is_integer(ChannelType type) { return type <= ChannelType::s32; }

struct TexelFormat {
  ChannelType type = ChannelType::u8;
  std::uint8_t channels = 1;  // 1, 2 or 4

  unsigned bytes() const { return channels * channel_bytes(type); }
  bool operator==(const TexelFormat&) const = default;
};

// Four 32-bit registers' worth, integers or the bits of floats. Channels that the format lacks read 0, the fourth 1.
using Words = std::array<std::uint32_t, 4>;
using ReadTexel = Words (*)(const std::byte* texel);

// How a texture's channels arrive in registers.
enum class Reading : std::uint8_t {
  element,     // integers as integers, floats as floats
  normalized,  // 8-bit and 16-bit integers as floats from 0 (or -1) to 1
  srgb,        // 8-bit unsigned ones as linear light; the fourth channel is linear already
};
ReadTexel texel_reader(TexelFormat format, Reading reading);

// Whether that gives floats, which is what can be filtered.
constexpr bool reads_as_float(ChannelType type, Reading reading) {
  return !is_integer(type) || (reading != Reading::element && channel_bytes(type) < 4);
}

float half_to_float(std::uint16_t bits);

}  // namespace softgpu::texture
