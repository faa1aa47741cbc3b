// The number formats of PTX on the host, and the values at which instructions tend to go wrong.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace ptx_test {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

// 16-bit floats as their bits; reference.hpp computes with them.
struct Half {
  std::uint16_t bits;
};
struct BFloat {
  std::uint16_t bits;
};
template <typename T>
struct Pair {  // .f16x2, .bf16x2: the first is in the lower half
  T low, high;
};
using Half2 = Pair<Half>;
using BFloat2 = Pair<BFloat>;

template <typename T>
using Bits = std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                                   std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

template <typename T>
Bits<T> bits_of(T value) {
  return std::bit_cast<Bits<T>>(value);
}
template <typename T>
T from_bits(Bits<T> bits) {
  return std::bit_cast<T>(bits);
}

inline bool is_nan(float value) { return std::isnan(value); }
inline bool is_nan(double value) { return std::isnan(value); }
inline bool is_nan(Half value) { return (value.bits & 0x7fff) > 0x7c00; }
inline bool is_nan(BFloat value) { return (value.bits & 0x7fff) > 0x7f80; }

// Equal bits; for floats, any NaN is as good as another.
template <typename T>
bool same(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return a == b;
  else
    return bits_of(a) == bits_of(b) || (is_nan(a) && is_nan(b));
}
template <typename T>
bool same(Pair<T> a, Pair<T> b) {
  return same(a.low, b.low) && same(a.high, b.high);
}

template <typename T>
  requires std::is_integral_v<T>
std::vector<T> random_values(std::size_t count, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(random());
  return values;
}

// 0, 1, the limits, shift distances, and a few without pattern.
template <typename T>
  requires std::is_integral_v<T>
std::vector<T> edge_values() {
  using L = std::numeric_limits<T>;
  std::vector<T> values = {T(0),     T(1),           T(2), T(3), T(7), T(-1), T(-2), T(-7), L::min(), T(L::min() + 1),
                           L::max(), T(L::max() - 1)};
  for (const T more : {T(15), T(16), T(31), T(32), T(33), T(63), T(64), T(100), T(255), T(0x5555555555555555),
                       T(0xaaaaaaaaaaaaaaaa), T(0x0123456789abcdef)})
    values.push_back(more);
  for (const T more : random_values<T>(8)) values.push_back(more);
  return values;
}

template <typename T>
  requires std::is_floating_point_v<T>
std::vector<T> edge_values() {
  using L = std::numeric_limits<T>;
  const T tiny = L::denorm_min(), one_more = T(1) + L::epsilon();
  std::vector<T> values = {T(0),
                           T(1),
                           T(0.5),
                           T(1.5),
                           T(2.5),
                           T(3),
                           T(0.1),
                           T(3.14159265358979),
                           one_more,
                           tiny,
                           T(3) * tiny,
                           L::min() - tiny,
                           L::min(),
                           L::max(),
                           L::infinity(),
                           T(1e10),
                           T(1e-10),
                           T(65504),
                           T(65519),
                           T(65520),
                           T(127.5),
                           T(128),
                           T(255.5),
                           T(32767.5),
                           T(65535.5),
                           T(2147483647),
                           T(2147483648.0),
                           T(4294967296.0),
                           T(9223372036854775808.0),
                           T(18446744073709551616.0),
                           T(8388609),
                           T(0.49999997),
                           T(16777217)};
  for (std::size_t i = 0, count = values.size(); i < count; ++i) values.push_back(-values[i]);
  values.push_back(L::quiet_NaN());
  return values;
}

// All 16-bit floats would be too many for pairs: signs, exponents and mantissas at their edges.
template <typename T>
  requires(std::is_same_v<T, Half> || std::is_same_v<T, BFloat>)
std::vector<T> edge_values() {
  constexpr int kMantissa = std::is_same_v<T, Half> ? 10 : 7;
  const unsigned mantissas[] = {0, 1, (1u << kMantissa) - 1, 1u << (kMantissa - 1), 5};
  const unsigned top = (1u << (15 - kMantissa)) - 1, bias = top / 2;
  std::vector<T> values;
  for (const unsigned exponent : {0u, 1u, bias - 3, bias - 1, bias, bias + 1, bias + 7, top - 1, top})
    for (const unsigned mantissa : mantissas)
      for (const unsigned sign : {0u, 0x8000u})
        values.push_back({static_cast<std::uint16_t>(sign | exponent << kMantissa | mantissa)});
  return values;
}

template <typename T>
std::vector<Pair<T>> edge_pairs() {
  const std::vector<T> values = edge_values<T>();
  std::vector<Pair<T>> pairs;
  for (std::size_t i = 0; i < values.size(); ++i) pairs.push_back({values[i], values[(i * 7 + 3) % values.size()]});
  return pairs;
}

// Every k-th value: for three sources, where all combinations would be too many.
template <typename T>
std::vector<T> some_of(const std::vector<T>& values, std::size_t most) {
  if (values.size() <= most) return values;
  std::vector<T> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(values[i * values.size() / most]);
  return some;
}

}  // namespace ptx_test
