// Checks of snippets against functions of C++.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <type_traits>

#include "unit/softgpu_lower/thread_runner.hpp"

namespace softgpu::test {

inline std::string hex(std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%#llx", static_cast<unsigned long long>(value));
  return text;
}

// `reference` takes a Row and gives the bits of d, of which those in `mask` are compared.
template <typename Reference>
void check_rows(const Snippet& snippet, const std::vector<Row>& rows, Reference reference, std::uint64_t mask = ~0ull) {
  const std::vector<std::uint64_t> results = evaluate(snippet, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto expected = static_cast<std::uint64_t>(reference(rows[i]));
    ASSERT_EQ(results[i] & mask, expected & mask)
        << snippet.code << "\na = " << hex(rows[i].a) << ", b = " << hex(rows[i].b) << ", c = " << hex(rows[i].c)
        << "\ngave " << hex(results[i] & mask) << " instead of " << hex(expected & mask);
  }
}

template <typename Float>
using BitsOf = std::conditional_t<sizeof(Float) == 4, std::uint32_t, std::uint64_t>;

template <typename Float>
Float as(std::uint64_t bits) {
  return std::bit_cast<Float>(static_cast<BitsOf<Float>>(bits));
}

// Bits of a float; all NaNs are one.
template <typename Float>
std::uint64_t bits_of(Float value) {
  if (std::isnan(value)) return sizeof(Float) == 4 ? 0x7fc00000 : 0x7ff8000000000000;
  return std::bit_cast<BitsOf<Float>>(value);
}

template <typename Float>
std::uint64_t without_nan_bits(std::uint64_t bits) {
  return bits_of(as<Float>(bits));
}

// The same for results and references that are floats: NaNs are equal whatever their bits.
template <typename Float, typename Reference>
void check_floats(const Snippet& snippet, const std::vector<Row>& rows, Reference reference) {
  const std::vector<std::uint64_t> results = evaluate(snippet, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint64_t expected = bits_of<Float>(reference(rows[i]));
    ASSERT_EQ(without_nan_bits<Float>(results[i]), expected)
        << snippet.code << "\na = " << as<Float>(rows[i].a) << ", b = " << as<Float>(rows[i].b)
        << ", c = " << as<Float>(rows[i].c) << "\ngave " << as<Float>(results[i]) << " (" << hex(results[i])
        << ") instead of " << as<Float>(expected) << " (" << hex(expected) << ')';
  }
}

// Zeros, subnormals, ends of the range, ties, infinities, NaN, and numbers from a fixed random sequence.
template <typename Float>
std::vector<std::uint64_t> floats(unsigned random_count = 20) {
  constexpr int mantissa = sizeof(Float) == 4 ? 23 : 52;
  const std::uint64_t sign = sizeof(Float) == 4 ? 0x80000000 : 0x8000000000000000;
  const std::uint64_t infinity = bits_of(std::numeric_limits<Float>::infinity());
  const std::uint64_t one = bits_of(Float{1});
  std::vector<std::uint64_t> magnitudes = {0,
                                           1,
                                           2,
                                           3,
                                           (1ull << mantissa) - 1,
                                           1ull << mantissa,
                                           (1ull << mantissa) + 1,
                                           one - 1,
                                           one,
                                           one + 1,
                                           infinity - 1,
                                           infinity,
                                           bits_of(Float(0.1)),
                                           bits_of(Float(1.5)),
                                           bits_of(Float(3)),
                                           bits_of(Float(1e-30)),
                                           bits_of(Float(1e30))};
  std::uint64_t state = 12345;
  for (unsigned i = 0; i < random_count; ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    magnitudes.push_back((sizeof(Float) == 4 ? state >> 33 : state >> 1) % infinity);
    // and one near 1, where operands meet
    magnitudes.push_back(one + (state >> 40) % (4ull << mantissa) - (1ull << mantissa));
  }
  std::vector<std::uint64_t> values;
  for (std::uint64_t magnitude : magnitudes) {
    values.push_back(magnitude);
    values.push_back(magnitude | sign);
  }
  values.push_back(infinity | 1ull << (mantissa - 1));
  return values;
}

}  // namespace softgpu::test
