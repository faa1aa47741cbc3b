#include "softgpu/texture/texel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace softgpu::texture {
namespace {

std::uint32_t word(float value) { return std::bit_cast<std::uint32_t>(value); }

template <typename Stored>
using Values = std::array<Stored, Corners::kMost>;  // one channel of each corner

template <typename Stored>
std::int64_t weighted_sum(const Corners& corners, const Values<Stored>& values) {
  std::int64_t sum = 0;
  for (unsigned i = 0; i < corners.count; ++i) sum += std::int64_t{values[i]} * corners.weights[i];
  return sum;
}

std::int64_t without_weights(std::int64_t sum) { return (sum + kWeightOne / 2) >> kWeightBits; }

// Halves are rounded towards zero.
std::int32_t nearest_integer(float value) { return static_cast<std::int32_t>(std::ceil(std::abs(value) - 0.5f)); }

// What samples that are alike have as their mean is the same again: a double holds the sum of so few.
struct ReadAsFloat {
  static std::uint32_t mean(std::span<const Words> samples, unsigned channel) {
    double sum = 0;
    for (const Words& sample : samples) sum += static_cast<double>(std::bit_cast<float>(sample[channel]));
    return word(static_cast<float>(sum / static_cast<double>(samples.size())));
  }
};

// What each kind of channel becomes, alone and blended, and the border's. `Stored` is its form in memory. Channels that
// a texel lacks read as zero.
template <typename T>
struct Integer {
  using Stored = T;
  using Wide = std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>;
  static std::uint32_t read(T value, unsigned) { return static_cast<std::uint32_t>(static_cast<Wide>(value)); }
  static std::uint32_t blend(const Corners& corners, const Values<T>& values, unsigned) {
    return static_cast<std::uint32_t>(without_weights(weighted_sum(corners, values)));
  }
  static std::uint32_t mean(std::span<const Words> samples, unsigned channel) {
    double sum = 0;
    for (const Words& sample : samples) sum += static_cast<double>(static_cast<Wide>(sample[channel]));
    return static_cast<std::uint32_t>(std::llround(sum / static_cast<double>(samples.size())));
  }
  static T store(std::uint32_t colour, unsigned) { return static_cast<T>(colour); }
};

// Sums have 16 bits, the sign included: what 8-bit texels are widened to.
template <typename T>
struct Normalized : ReadAsFloat {
  using Stored = T;
  static constexpr auto kOne = static_cast<float>(std::numeric_limits<T>::max());

  static std::uint32_t read(T value, unsigned) {
    // The lowest signed value is -1, too.
    return word(std::max(static_cast<float>(value) / kOne, -1.0f));
  }
  static std::uint32_t blend(const Corners& corners, const Values<T>& values, unsigned) {
    const std::int64_t sum = weighted_sum(corners, values);
    if constexpr (std::is_unsigned_v<T>)
      return word(static_cast<float>(without_weights(sizeof(T) == 1 ? sum * 257 : sum)) / 65535);
    // 32767 of 127 * 256 parts: nearly one 128th more.
    const std::int64_t wide = sizeof(T) == 1 ? sum + ((sum + ((sum >> 12) * 16) + 64) >> 7) : without_weights(sum);
    return word(static_cast<float>(std::max<std::int64_t>(wide, -32767)) / 32767);
  }
  static T store(std::uint32_t colour, unsigned) {
    const auto value = std::bit_cast<float>(colour);
    const float inside = std::isnan(value) ? 0 : std::clamp(value, std::is_signed_v<T> ? -1.0f : 0.0f, 1.0f);
    const std::int32_t stored = nearest_integer(inside * kOne);
    return static_cast<T>(inside < 0 ? -stored : stored);
  }
};

template <typename T>
struct FloatFormat;
template <>
struct FloatFormat<std::uint16_t> {
  static constexpr int kMantissaBits = 10, kBias = 15;
  static constexpr bool kHasDenormals = true;
};
template <>
struct FloatFormat<std::uint32_t> {
  static constexpr int kMantissaBits = 23, kBias = 127;
  static constexpr bool kHasDenormals = false;
};

template <typename T>
struct FloatParts {
  using Format = FloatFormat<T>;
  static constexpr int kSignBit = 8 * sizeof(T) - 1;
  static constexpr std::uint32_t kTopExponent = (1u << (kSignBit - Format::kMantissaBits)) - 1;

  explicit FloatParts(T bits)
      : is_negative(bits >> kSignBit != 0),
        exponent(bits >> Format::kMantissaBits & kTopExponent),
        fraction(bits & ((1u << Format::kMantissaBits) - 1)) {}

  Scaled scaled() const {
    auto mantissa = static_cast<std::int32_t>(fraction);
    if (exponent != 0)
      mantissa |= 1 << Format::kMantissaBits;
    else if (!Format::kHasDenormals)
      mantissa = 0;
    const auto power = static_cast<std::int32_t>(std::max(exponent, 1u)) - Format::kBias - Format::kMantissaBits;
    return {is_negative ? -mantissa : mantissa, power};
  }

  bool is_negative;
  std::uint32_t exponent, fraction;
};

constexpr std::uint32_t kNan = 0x7fffffff, kInfinity = 0x7f800000, kSign = 0x80000000;

// Texels of floating point: infinities and what is no number first, which is rare.
template <typename T>
std::uint32_t blend_floats(const Corners& corners, const Values<T>& values) {
  using Format = FloatFormat<T>;
  std::array<Scaled, Corners::kMost> scaled;
  bool positive = false, negative = false;
  for (unsigned i = 0; i < corners.count; ++i) {
    const FloatParts<T> parts(values[i]);
    scaled[i] = parts.scaled();
    if (parts.exponent != FloatParts<T>::kTopExponent) continue;
    if (parts.fraction != 0) return kNan;
    (parts.is_negative ? negative : positive) = true;
  }
  if (positive || negative) return positive && negative ? kNan : positive ? kInfinity : kInfinity | kSign;
  constexpr Precision kPrecision{Format::kMantissaBits + 1,
                                 Format::kHasDenormals ? 1 - Format::kBias - Format::kMantissaBits : -1000};
  const double sum = blend_scaled(corners, std::span(scaled).first(corners.count), GuardBits::four, kPrecision);
  if (std::abs(sum) < static_cast<double>(std::numeric_limits<float>::min())) return sum < 0 ? kSign : 0;
  return word(static_cast<float>(sum));
}

struct Half : ReadAsFloat {
  using Stored = std::uint16_t;
  static std::uint32_t read(std::uint16_t value, unsigned) { return word(half_to_float(value)); }
  static std::uint32_t blend(const Corners& corners, const Values<std::uint16_t>& values, unsigned) {
    return blend_floats(corners, values);
  }
  static std::uint16_t store(std::uint32_t colour, unsigned) { return float_to_half_towards_zero(colour); }
};

struct Float : ReadAsFloat {
  using Stored = std::uint32_t;
  static std::uint32_t read(std::uint32_t value, unsigned) { return value; }
  static std::uint32_t blend(const Corners& corners, const Values<std::uint32_t>& values, unsigned) {
    return blend_floats(corners, values);
  }
  static std::uint32_t store(std::uint32_t colour, unsigned) { return colour; }
};

// Linear light has at most 8 bits: a number of steps, whose size depends on the encoded value.
struct Srgb : ReadAsFloat {
  using Stored = std::uint8_t;

  static int step_of(unsigned encoded) {
    constexpr std::array<std::uint8_t, 7> kLonger = {32, 48, 64, 96, 136, 184, 248};
    return static_cast<int>(std::upper_bound(kLonger.begin(), kLonger.end(), encoded) - kLonger.begin()) - 14;
  }
  static double light_of(unsigned encoded) {
    const double value = encoded / 255.0;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  }
  static const std::array<Scaled, 256>& steps() {
    static const std::array<Scaled, 256> table = [] {
      std::array<Scaled, 256> all{};
      for (unsigned i = 0; i < all.size(); ++i)
        all[i] = {static_cast<std::int32_t>(std::lround(std::ldexp(light_of(i), -step_of(i)))), step_of(i)};
      return all;
    }();
    return table;
  }

  static std::uint32_t read(std::uint8_t value, unsigned channel) {
    if (channel == 3) return Normalized<std::uint8_t>::read(value, channel);
    const Scaled& light = steps()[value];
    return word(std::ldexp(static_cast<float>(light.mantissa), light.exponent));
  }
  static std::uint32_t blend(const Corners& corners, const Values<std::uint8_t>& values, unsigned channel) {
    if (channel == 3) return Normalized<std::uint8_t>::blend(corners, values, channel);
    std::array<Scaled, Corners::kMost> scaled;
    for (unsigned i = 0; i < corners.count; ++i) scaled[i] = steps()[values[i]];
    constexpr Precision kHalfPrecision{11, -24};
    return word(static_cast<float>(
        blend_scaled(corners, std::span(scaled).first(corners.count), GuardBits::none, kHalfPrecision)));
  }
  static std::uint8_t store(std::uint32_t colour, unsigned channel) {
    const auto light = std::bit_cast<float>(colour);
    if (channel == 3 || !(light > 0) || light >= 1) return Normalized<std::uint8_t>::store(colour, channel);
    const double encoded =
        light <= 0.0031308f ? 12.92 * light : 1.055 * std::pow(static_cast<double>(light), 1 / 2.4) - 0.055;
    return static_cast<std::uint8_t>(std::lround(encoded * 255));
  }
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
Words blend_texels(const Corners& corners) {
  std::array<Values<typename Channel::Stored>, kChannels> values;
  for (unsigned corner = 0; corner < corners.count; ++corner) {
    const auto stored = load<Channel, kChannels>(corners.texels[corner]);
    for (unsigned k = 0; k < kChannels; ++k) values[k][corner] = stored[k];
  }
  Words words{};
  for (unsigned k = 0; k < kChannels; ++k) words[k] = Channel::blend(corners, values[k], k);
  return words;
}

template <typename Channel, unsigned kChannels>
Words average_texels(std::span<const Words> samples) {
  Words words{};
  for (unsigned k = 0; k < kChannels; ++k) words[k] = Channel::mean(samples, k);
  return words;
}

template <typename Channel, unsigned kChannels>
void store_texel(const Words& colour, std::byte* texel) {
  std::array<typename Channel::Stored, kChannels> stored;
  for (unsigned k = 0; k < kChannels; ++k) stored[k] = Channel::store(colour[k], k);
  std::memcpy(texel, stored.data(), sizeof stored);
}

template <typename Channel, unsigned kChannels>
TexelReader reader_of() {
  return {kChannels * sizeof(typename Channel::Stored), read_texel<Channel, kChannels>,
          blend_texels<Channel, kChannels>, average_texels<Channel, kChannels>, store_texel<Channel, kChannels>};
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

std::uint16_t float_to_half_towards_zero(std::uint32_t bits) {
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const std::uint32_t exponent = bits >> 23 & 255, fraction = bits & 0x7fffff;
  if (exponent == 255) return static_cast<std::uint16_t>(sign | 0x7c00 | fraction >> 13);
  if (exponent > 142) return static_cast<std::uint16_t>(sign | 0x7bff);
  if (exponent > 112) return static_cast<std::uint16_t>(sign | (exponent - 112) << 10 | fraction >> 13);
  if (exponent < 102) return sign;
  return static_cast<std::uint16_t>(sign | (fraction | 0x800000) >> (126 - exponent));
}

}  // namespace softgpu::texture
