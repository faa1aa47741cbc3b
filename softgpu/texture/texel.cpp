#include "softgpu/texture/texel.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace softgpu::texture {
namespace {

constexpr std::array<std::byte, 16> kNoTexel{};

std::uint32_t word(float value) { return std::bit_cast<std::uint32_t>(value); }

// What each kind of channel becomes. `Stored` is its form in memory. Channels that a texel lacks read as zero.
template <typename T>
struct Integer {
  using Stored = T;
  static std::uint32_t read(T value, unsigned) {
    return static_cast<std::uint32_t>(
        static_cast<std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>>(value));
  }
};

struct AsFloat {};

template <typename T>
struct Normalized : AsFloat {
  using Stored = T;
  static std::uint32_t read(T value, unsigned) {
    // The lowest signed value is -1, too.
    const float scaled = static_cast<float>(value) / static_cast<float>(std::numeric_limits<T>::max());
    return word(scaled < -1.0f ? -1.0f : scaled);
  }
};

struct Srgb : AsFloat {
  using Stored = std::uint8_t;
  static std::uint32_t read(std::uint8_t value, unsigned channel) {
    static const std::array<std::uint32_t, 256> linear = [] {
      std::array<std::uint32_t, 256> table{};
      for (std::size_t i = 0; i < table.size(); ++i) {
        const double encoded = static_cast<double>(i) / 255;
        const double light = encoded <= 0.04045 ? encoded / 12.92 : std::pow((encoded + 0.055) / 1.055, 2.4);
        table[i] = word(static_cast<float>(light));
      }
      return table;
    }();
    return channel == 3 ? Normalized<std::uint8_t>::read(value, channel) : linear[value];
  }
};

struct Half : AsFloat {
  using Stored = std::uint16_t;
  static std::uint32_t read(std::uint16_t value, unsigned) { return word(half_to_float(value)); }
};

struct Float : AsFloat {
  using Stored = std::uint32_t;
  static std::uint32_t read(std::uint32_t value, unsigned) { return value; }
};

template <typename Channel, unsigned kChannels>
std::array<typename Channel::Stored, kChannels> load(const std::byte* texel) {
  std::array<typename Channel::Stored, kChannels> stored;
  std::memcpy(stored.data(), texel, sizeof stored);
  return stored;
}

template <typename Channel, unsigned kChannels>
Words read_texel(const std::byte* texel) {
  const auto stored = load<Channel, kChannels>(texel);
  Words words{};
  for (unsigned k = 0; k < kChannels; ++k) words[k] = Channel::read(stored[k], k);
  return words;
}

template <typename Channel, unsigned kChannels>
Words blend_texels(const Corners& corners, const Words& border) {
  std::array<float, kChannels> sum{};
  for (unsigned corner = 0; corner < corners.count; ++corner) {
    const std::byte* texel = corners.texels[corner];
    const auto stored = load<Channel, kChannels>(texel != nullptr ? texel : kNoTexel.data());
    for (unsigned k = 0; k < kChannels; ++k) {
      const std::uint32_t value = texel != nullptr ? Channel::read(stored[k], k) : border[k];
      sum[k] += corners.weights[corner] * std::bit_cast<float>(value);
    }
  }
  Words words{};
  for (unsigned k = 0; k < kChannels; ++k) words[k] = word(sum[k]);
  return words;
}

template <typename Channel, unsigned kChannels>
TexelReader reader_of() {
  TexelReader reader{kChannels * sizeof(typename Channel::Stored), read_texel<Channel, kChannels>, nullptr};
  if constexpr (std::is_base_of_v<AsFloat, Channel>) reader.blend = blend_texels<Channel, kChannels>;
  return reader;
}

template <typename Channel>
TexelReader reader(unsigned channels) {
  return channels == 1 ? reader_of<Channel, 1>() : channels == 2 ? reader_of<Channel, 2>() : reader_of<Channel, 4>();
}

using ReaderOfChannels = TexelReader (*)(unsigned channels);

struct Readers {
  ReaderOfChannels element, normalized, srgb;
};

// In the order of ChannelType.
constexpr std::array<Readers, 12> kReaders = {{
    {reader<Integer<std::uint8_t>>, reader<Normalized<std::uint8_t>>, reader<Srgb>},
    {reader<Integer<std::uint16_t>>, reader<Normalized<std::uint16_t>>, reader<Normalized<std::uint16_t>>},
    {reader<Integer<std::uint32_t>>, reader<Integer<std::uint32_t>>, reader<Integer<std::uint32_t>>},
    {reader<Integer<std::int8_t>>, reader<Normalized<std::int8_t>>, reader<Normalized<std::int8_t>>},
    {reader<Integer<std::int16_t>>, reader<Normalized<std::int16_t>>, reader<Normalized<std::int16_t>>},
    {reader<Integer<std::int32_t>>, reader<Integer<std::int32_t>>, reader<Integer<std::int32_t>>},
    {reader<Half>, reader<Half>, reader<Half>},
    {reader<Float>, reader<Float>, reader<Float>},
    {reader<Normalized<std::uint8_t>>, reader<Normalized<std::uint8_t>>, reader<Srgb>},
    {reader<Normalized<std::uint16_t>>, reader<Normalized<std::uint16_t>>, reader<Normalized<std::uint16_t>>},
    {reader<Normalized<std::int8_t>>, reader<Normalized<std::int8_t>>, reader<Normalized<std::int8_t>>},
    {reader<Normalized<std::int16_t>>, reader<Normalized<std::int16_t>>, reader<Normalized<std::int16_t>>},
}};

}  // namespace

TexelReader texel_reader(TexelFormat format, Reading reading) {
  const Readers& readers = kReaders[static_cast<std::size_t>(format.type)];
  const ReaderOfChannels chosen = reading == Reading::element      ? readers.element
                                  : reading == Reading::normalized ? readers.normalized
                                                                   : readers.srgb;
  return chosen(format.channels);
}

float half_to_float(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  const std::uint32_t exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  if (exponent == 0) return std::copysign(std::ldexp(static_cast<float>(fraction), -24), std::bit_cast<float>(sign));
  const std::uint32_t wide_exponent = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wide_exponent << 23 | fraction << 13);
}

}  // namespace softgpu::texture
