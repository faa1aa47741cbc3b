#include "fuzz/ptx/interpreter/compute_float.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "fuzz/ptx/interpreter/compute.hpp"
#include "fuzz/ptx/interpreter/memory.hpp"

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

// How a number of 16 bits is made up: bits of its fraction, and the exponent of the smallest normal number.
struct HalfFormat {
  int fraction_bits;
  int lowest;
};
HalfFormat format_of(Type type) { return type == Type::bf16 ? HalfFormat{7, -126} : HalfFormat{10, -14}; }

// To the nearest one, the even one of two.
std::uint64_t to_half(double value, Type type) {
  const auto [fraction_bits, lowest] = format_of(type);
  const std::uint64_t sign = std::signbit(value) ? 0x8000 : 0;
  const std::uint64_t infinity = 0x7fff >> fraction_bits << fraction_bits;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return canonical_nan(type);
  if (std::isinf(value)) return sign | infinity;
  const int exponent = magnitude == 0 ? lowest : std::max(std::ilogb(magnitude), lowest);
  if (exponent > 1 - lowest) return sign | infinity;
  const double units = std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent));
  // What is left of the units beyond the implicit one carries into the exponent by itself, as far as to infinity.
  return sign + (static_cast<std::uint64_t>(exponent - lowest) << fraction_bits) + static_cast<std::uint64_t>(units);
}

double from_half(std::uint64_t bits, Type type) {
  const auto [fraction_bits, lowest] = format_of(type);
  const std::uint64_t one = std::uint64_t{1} << fraction_bits;
  const int exponent = static_cast<int>((bits & 0x7fff) >> fraction_bits);
  const double fraction = static_cast<double>(bits & (one - 1));
  double value = 0;
  if (exponent == 0x7fff >> fraction_bits)
    value = fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    value = std::ldexp(fraction, lowest - fraction_bits);
  else
    value = std::ldexp(static_cast<double>(one) + fraction, exponent - 1 + lowest - fraction_bits);
  return (bits & 0x8000) != 0 ? -value : value;
}

template <typename T>
T compute_as(Op op, T a, T b, T c) {
  switch (op) {
    case Op::add: return a + b;
    case Op::sub: return a - b;
    case Op::mul_lo: return a * b;
    case Op::fma: return std::fma(a, b, c);
    case Op::div: return a / b;
    case Op::sqrt: return std::sqrt(a);
    case Op::rcp: return 1 / a;
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
std::uint64_t to_integer(double whole) {
  if (whole < static_cast<double>(std::numeric_limits<T>::min()))
    return static_cast<std::uint64_t>(std::numeric_limits<T>::min());
  if (whole >= std::ldexp(1.0, std::numeric_limits<T>::digits))
    return static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  return static_cast<std::uint64_t>(static_cast<T>(whole));
}

double round_by(double value, Variant how) {
  switch (how) {
    case Variant::rzi: return std::trunc(value);
    case Variant::rni: return std::nearbyint(value);
    case Variant::rmi: return std::floor(value);
    case Variant::rpi: return std::ceil(value);
    default: throw std::logic_error("a conversion that rounds in another way");
  }
}

std::uint64_t round_to_integer(double value, Variant how, Type type) {
  if (std::isnan(value)) throw Undefined("converts a NaN to an integer");
  const double whole = round_by(value, how);
  switch (type) {
    case Type::u32: return to_integer<std::uint32_t>(whole);
    case Type::s32: return to_integer<std::int32_t>(whole);
    case Type::u64: return to_integer<std::uint64_t>(whole);
    case Type::s64: return to_integer<std::int64_t>(whole);
    default: throw std::logic_error("a conversion to another integer");
  }
}

template <typename T>
std::uint64_t from_integer(T value, Type to) {
  if (to == Type::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (to == Type::f64) return std::bit_cast<std::uint64_t>(static_cast<double>(value));
  if (bits_of(to) != 16) throw std::logic_error("a conversion to another floating-point number");
  return to_half(static_cast<double>(value), to);  // exact for the 32 bits that programs convert
}

std::uint64_t convert(const Instruction& instruction, std::uint64_t source) {
  const unsigned bits = bits_of(instruction.from);
  if (!is_float(instruction.from))
    return is_signed(instruction.from) ? from_integer(sign_extend(source, bits), instruction.type)
                                       : from_integer(truncate(source, bits), instruction.type);
  const double value = to_double(source, instruction.from);
  if (!is_float(instruction.type)) return round_to_integer(value, instruction.variant, instruction.type);
  if (instruction.type == Type::f64) return std::bit_cast<std::uint64_t>(value);
  if (bits_of(instruction.type) == 16) return to_half(value, instruction.type);
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

// Products of two halves are exact, and so are sums that are rounded to odd.
std::uint64_t compute_half(Op op, Type type, const std::uint64_t* s) {
  const auto of = [&](unsigned i) { return from_half(s[i], type); };
  switch (op) {
    case Op::add: return to_half(add_to_odd(of(0), of(1)), type);
    case Op::sub: return to_half(add_to_odd(of(0), -of(1)), type);
    case Op::fma: return to_half(add_to_odd(of(0) * of(1), of(2)), type);
    default: return to_half(compute_as(op, of(0), of(1), 0.0), type);
  }
}

std::uint64_t with_canonical_nan(std::uint64_t bits, Type type) {
  return std::isnan(to_double(bits, type)) ? canonical_nan(type) : bits;
}

std::uint64_t compute_number(const Instruction& instruction, const std::uint64_t* s) {
  std::uint64_t result = 0;
  const Type type = instruction.type;
  if (instruction.op == Op::cvt) return convert(instruction, s[0]);
  if (compute_bits(instruction, s, result)) return result;
  if (type == Type::f64) {
    const auto of = [&](unsigned i) { return std::bit_cast<double>(s[i]); };
    return std::bit_cast<std::uint64_t>(compute_as(instruction.op, of(0), of(1), of(2)));
  }
  if (bits_of(type) == 16) return compute_half(instruction.op, type, s);
  const auto of = [&](unsigned i) { return std::bit_cast<float>(static_cast<std::uint32_t>(s[i])); };
  return std::bit_cast<std::uint32_t>(compute_as(instruction.op, of(0), of(1), of(2)));
}

// Low half and high half by themselves.
std::uint64_t compute_packed(const Instruction& instruction, const std::uint64_t* s) {
  Instruction of_half = instruction;
  of_half.type = half_of(instruction.type);
  std::uint64_t result = 0;
  for (const unsigned shift : {0u, 16u}) {
    const std::uint64_t halves[3] = {s[0] >> shift & 0xffff, s[1] >> shift & 0xffff, s[2] >> shift & 0xffff};
    result |= compute_float(of_half, halves) << shift;
  }
  return result;
}

}  // namespace

double to_double(std::uint64_t bits, Type type) {
  if (type == Type::f64) return std::bit_cast<double>(bits);
  if (bits_of(type) == 16) return from_half(bits, type);
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
}

std::uint64_t compute_float(const Instruction& instruction, const std::uint64_t* sources) {
  if (is_packed(instruction.type)) return compute_packed(instruction, sources);
  const std::uint64_t result = compute_number(instruction, sources);
  return may_give_nan(instruction) ? with_canonical_nan(result, instruction.type) : result;
}

std::uint64_t add_floats(Type type, std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sources[3] = {a, b, 0};
  return compute_float({.op = Op::add, .type = type}, sources);
}

}  // namespace ptx_fuzz
