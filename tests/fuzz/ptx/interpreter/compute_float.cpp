#include "fuzz/ptx/interpreter/compute_float.hpp"

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

std::uint64_t from_integer(std::uint64_t source, Type from, Type to) {
  const unsigned bits = bits_of(from);
  if (is_signed(from)) {
    const std::int64_t value = sign_extend(source, bits);
    return to == Type::f32 ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                           : std::bit_cast<std::uint64_t>(static_cast<double>(value));
  }
  const std::uint64_t value = truncate(source, bits);
  return to == Type::f32 ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                         : std::bit_cast<std::uint64_t>(static_cast<double>(value));
}

std::uint64_t convert(const Instruction& instruction, std::uint64_t source) {
  if (!is_float(instruction.from)) return from_integer(source, instruction.from, instruction.type);
  const double value = to_double(source, instruction.from);
  if (!is_float(instruction.type)) return round_to_integer(value, instruction.type);
  if (instruction.type == Type::f64) return std::bit_cast<std::uint64_t>(value);
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

}  // namespace

double to_double(std::uint64_t bits, Type type) {
  if (type == Type::f64) return std::bit_cast<double>(bits);
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
  const auto of = [&](unsigned i) { return std::bit_cast<float>(static_cast<std::uint32_t>(s[i])); };
  return std::bit_cast<std::uint32_t>(compute_as(instruction.op, of(0), of(1), of(2)));
}

}  // namespace ptx_fuzz
