#include "fuzz/ptx/interpreter/compute_float.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "fuzz/ptx/interpreter/compute.hpp"

namespace ptx_fuzz {
namespace {

template <typename T>
T smaller(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  return a < b ? a : b;
}

// a + b, and when that is not exact a neighbour whose last bit is 1: rounding it once more gives what rounding the
// exact sum gives.
double add_to_odd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  const double part = sum - a;
  const double error = (a - (sum - part)) + (b - part);
  auto bits = std::bit_cast<std::uint64_t>(sum);
  if (error == 0 || (bits & 1) != 0) return sum;
  bits += (error > 0) == (sum > 0) ? 1 : -1;
  return std::bit_cast<double>(bits);
}

// To the nearest f16, the even one of two.
std::uint64_t to_half(double value) {
  const std::uint64_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return 0x7fff;
  if (std::isinf(value)) return sign | 0x7c00;
  const int exponent = magnitude == 0 ? -14 : std::max(std::ilogb(magnitude), -14);
  const double units = std::nearbyint(std::ldexp(magnitude, 10 - exponent));  // of 2^(exponent - 10)
  if (std::ldexp(units, exponent - 10) > 65504) return sign | 0x7c00;
  // What is left of the units beyond the implicit one carries into the exponent by itself.
  return sign + static_cast<std::uint64_t>(exponent + 14) * 1024 + static_cast<std::uint64_t>(units);
}

double from_half(std::uint64_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double fraction = static_cast<double>(bits & 1023);
  double value = 0;
  if (exponent == 31)
    value = fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  else
    value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -value : value;
}

template <typename T>
T compute_as(Op op, T a, T b, T c) {
  switch (op) {
    case Op::add: return a + b;
    case Op::sub: return a - b;
    case Op::mul_lo: return a * b;
    case Op::fma: return std::fma(a, b, c);
    case Op::min: return smaller(a, b);
    case Op::max: return -smaller(-a, -b);
    default: throw std::logic_error("an instruction that computes no floating-point number");
  }
}

// Sign changes and choices leave all other bits alone.
bool compute_bits(const Instruction& instruction, const std::uint64_t* s, std::uint64_t& result) {
  const std::uint64_t sign = std::uint64_t{1} << (bits_of(instruction.type) - 1);
  switch (instruction.op) {
    case Op::mov: result = s[0]; return true;
    case Op::neg: result = s[0] ^ sign; return true;
    case Op::abs: result = s[0] & ~sign; return true;
    case Op::selp: result = s[2] != 0 ? s[0] : s[1]; return true;
    default: return false;
  }
}

template <typename T>
std::uint64_t to_integer(double value) {
  if (std::isnan(value)) throw std::logic_error("programs convert no NaN to an integer");
  const double whole = std::trunc(value);
  if (whole < static_cast<double>(std::numeric_limits<T>::min()))
    return static_cast<std::uint64_t>(std::numeric_limits<T>::min());
  if (whole >= std::ldexp(1.0, std::numeric_limits<T>::digits))
    return static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  return static_cast<std::uint64_t>(static_cast<T>(whole));
}

std::uint64_t round_to_integer(double value, Type type) {
  switch (type) {
    case Type::u32: return to_integer<std::uint32_t>(value);
    case Type::s32: return to_integer<std::int32_t>(value);
    case Type::u64: return to_integer<std::uint64_t>(value);
    case Type::s64: return to_integer<std::int64_t>(value);
    default: throw std::logic_error("a conversion to another integer");
  }
}

template <typename T>
std::uint64_t from_integer(T value, Type to) {
  if (to == Type::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (to == Type::f64) return std::bit_cast<std::uint64_t>(static_cast<double>(value));
  if (bits_of(to) != 16) throw std::logic_error("a conversion to another floating-point number");
  return to_half(static_cast<double>(value));  // exact for the 32 bits that programs convert
}

std::uint64_t convert(const Instruction& instruction, std::uint64_t source) {
  const unsigned bits = bits_of(instruction.from);
  if (!is_float(instruction.from))
    return is_signed(instruction.from) ? from_integer(sign_extend(source, bits), instruction.type)
                                       : from_integer(truncate(source, bits), instruction.type);
  const double value = to_double(source, instruction.from);
  if (!is_float(instruction.type)) return round_to_integer(value, instruction.type);
  if (instruction.type == Type::f64) return std::bit_cast<std::uint64_t>(value);
  if (instruction.type == Type::f16) return to_half(value);
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

}  // namespace

double to_double(std::uint64_t bits, Type type) {
  if (type == Type::f64) return std::bit_cast<double>(bits);
  if (type == Type::f16) return from_half(bits);
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
}

std::uint64_t compute_float(const Instruction& instruction, const std::uint64_t* s) {
  std::uint64_t result = 0;
  if (instruction.op == Op::cvt) return convert(instruction, s[0]);
  if (compute_bits(instruction, s, result)) return result;
  if (instruction.type == Type::f64) {
    const auto of = [&](unsigned i) { return std::bit_cast<double>(s[i]); };
    return std::bit_cast<std::uint64_t>(compute_as(instruction.op, of(0), of(1), of(2)));
  }
  if (instruction.type == Type::f16) {
    // Sums and products of two halves are exact, but for sums that are rounded to odd.
    const auto of = [&](unsigned i) { return from_half(s[i]); };
    switch (instruction.op) {
      case Op::add: return to_half(add_to_odd(of(0), of(1)));
      case Op::sub: return to_half(add_to_odd(of(0), -of(1)));
      case Op::fma: return to_half(add_to_odd(of(0) * of(1), of(2)));
      default: return to_half(compute_as(instruction.op, of(0), of(1), 0.0));
    }
  }
  const auto of = [&](unsigned i) { return std::bit_cast<float>(static_cast<std::uint32_t>(s[i])); };
  return std::bit_cast<std::uint32_t>(compute_as(instruction.op, of(0), of(1), of(2)));
}

}  // namespace ptx_fuzz
