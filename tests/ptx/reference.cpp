#include "ptx/reference.hpp"

#include <algorithm>

namespace ptx_test {
namespace {

struct Format {
  int mantissa, smallest_exponent, largest_exponent;  // of normal numbers
  int exponent_bits() const { return 15 - mantissa; }
  int bias() const { return largest_exponent; }
};
constexpr Format kHalf = {10, -14, 15};
constexpr Format kBFloat = {7, -126, 127};

double decode(std::uint16_t bits, const Format& format) {
  const int exponent = (bits & 0x7fff) >> format.mantissa;
  const int mantissa = bits & ((1 << format.mantissa) - 1);
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == (1 << format.exponent_bits()) - 1)
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(mantissa, format.smallest_exponent - format.mantissa);
  return sign * std::ldexp(mantissa + (1 << format.mantissa), exponent - format.bias() - format.mantissa);
}

std::uint16_t encode(double value, const Format& format, Rounding rounding) {
  const int infinity = ((1 << format.exponent_bits()) - 1) << format.mantissa;
  const int sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return 0x7fff;
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | infinity);
  if (value == 0) return static_cast<std::uint16_t>(sign);
  int exponent = std::max(std::ilogb(value), format.smallest_exponent);
  // In units of the last place: the integer part is the mantissa with its leading bit.
  const double units = std::ldexp(value, format.mantissa - exponent);
  double mantissa = std::abs(rounded(rounding, [&] {
    const volatile double exact = units;
    return std::nearbyint(exact);
  }));
  if (mantissa >= std::ldexp(1, format.mantissa + 1)) {
    mantissa /= 2;
    ++exponent;
  }
  if (exponent > format.largest_exponent) {
    const bool to_infinity = rounding.mode == FE_TONEAREST || rounding.mode == (sign != 0 ? FE_DOWNWARD : FE_UPWARD);
    return static_cast<std::uint16_t>(sign | (to_infinity ? infinity : infinity - 1));
  }
  const int whole = static_cast<int>(mantissa);
  const bool normal = whole >> format.mantissa != 0;
  return static_cast<std::uint16_t>(sign | ((normal ? exponent + format.bias() : 0) << format.mantissa) |
                                    (whole & ((1 << format.mantissa) - 1)));
}

}  // namespace

float flush(float value) { return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value; }

double to_double(Half value) { return decode(value.bits, kHalf); }
double to_double(BFloat value) { return decode(value.bits, kBFloat); }
Half to_half(double value, Rounding rounding) { return {encode(value, kHalf, rounding)}; }
BFloat to_bfloat(double value, Rounding rounding) { return {encode(value, kBFloat, rounding)}; }

double add_to_odd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  const double part = sum - a;
  const double error = (a - (sum - part)) + (b - part);
  std::uint64_t bits = bits_of(sum);
  if (error == 0 || bits % 2 == 1) return sum;
  bits = (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
  return from_bits<double>(bits);
}

}  // namespace ptx_test
