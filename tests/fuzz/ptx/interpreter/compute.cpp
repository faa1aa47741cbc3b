#include "fuzz/ptx/interpreter/compute.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "fuzz/ptx/interpreter/compute_float.hpp"

namespace ptx_fuzz {
namespace {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

Wide as_number(std::uint64_t value, Type type) {
  const unsigned bits = bits_of(type);
  return is_signed(type) ? Wide{sign_extend(value, bits)} : Wide{truncate(value, bits)};
}

std::uint64_t low(Wide value) { return static_cast<std::uint64_t>(value); }
std::uint64_t high(Wide value, unsigned bits) { return static_cast<std::uint64_t>(value >> bits); }

std::uint64_t high_product(Wide a, Wide b, Type type) {
  const unsigned bits = bits_of(type);
  if (is_signed(type)) return high(a * b, bits);
  return static_cast<std::uint64_t>(static_cast<UnsignedWide>(a) * static_cast<UnsignedWide>(b) >> bits);
}

std::uint64_t shift_right(std::uint64_t value, std::uint64_t amount, Type type) {
  const unsigned bits = bits_of(type);
  if (is_signed(type))
    return static_cast<std::uint64_t>(sign_extend(value, bits) >> std::min<std::uint64_t>(amount, 63));
  return amount >= bits ? 0 : truncate(value, bits) >> amount;
}

std::uint64_t shift_left(std::uint64_t value, std::uint64_t amount, unsigned bits) {
  return amount >= bits ? 0 : value << amount;
}

std::uint64_t funnel(Op op, std::uint64_t low_word, std::uint64_t high_word, std::uint64_t amount) {
  const bool wraps = op == Op::shf_l_wrap || op == Op::shf_r_wrap;
  const std::uint64_t by = wraps ? amount & 31 : std::min<std::uint64_t>(amount, 32);
  const std::uint64_t both = high_word << 32 | low_word;
  if (op == Op::shf_l_wrap || op == Op::shf_l_clamp) return by == 32 ? low_word : (both << by) >> 32;
  return both >> by;
}

std::uint64_t three_way_logic(const std::uint64_t* sources) {
  std::uint64_t result = 0;
  for (unsigned bit = 0; bit < 32; ++bit) {
    const auto of = [&](unsigned source) { return sources[source] >> bit & 1; };
    const std::uint64_t row = of(0) << 2 | of(1) << 1 | of(2);
    result |= (sources[3] >> row & 1) << bit;
  }
  return result;
}

std::uint64_t reverse_bits(std::uint64_t value, unsigned bits) {
  std::uint64_t result = 0;
  for (unsigned bit = 0; bit < bits; ++bit) result |= (value >> bit & 1) << (bits - 1 - bit);
  return result;
}

// The place of the highest bit that differs from the sign (or, without one, is 1); all ones if there is none.
std::uint64_t find_highest(std::uint64_t value, Type type) {
  const unsigned bits = bits_of(type);
  if (is_signed(type) && sign_extend(value, bits) < 0) value = ~value;
  value = truncate(value, bits);
  return value == 0 ? 0xffffffffu : 63 - static_cast<unsigned>(std::countl_zero(value));
}

std::uint64_t extract_field(std::uint64_t value, std::uint64_t place, std::uint64_t length, Type type) {
  const unsigned bits = bits_of(type);
  place &= 0xff, length &= 0xff;
  std::uint64_t sign = 0;
  if (is_signed(type) && length != 0) sign = value >> std::min<std::uint64_t>(place + length - 1, bits - 1) & 1;
  std::uint64_t result = 0;
  for (unsigned bit = 0; bit < bits; ++bit) {
    const bool inside = bit < length && place + bit < bits;
    result |= (inside ? value >> (place + bit) & 1 : sign) << bit;
  }
  return result;
}

std::uint64_t insert_field(std::uint64_t field, std::uint64_t into, std::uint64_t place, std::uint64_t length,
                           unsigned bits) {
  place &= 0xff, length &= 0xff;
  for (std::uint64_t bit = 0; bit < length && place + bit < bits; ++bit) {
    const std::uint64_t mask = std::uint64_t{1} << (place + bit);
    into = (field >> bit & 1) != 0 ? into | mask : into & ~mask;
  }
  return into;
}

// Which of the eight bytes goes to `byte`, and whether only its sign.
unsigned select_byte(Variant mode, std::uint64_t control, unsigned byte) {
  const unsigned n = control & 3;
  switch (mode) {
    case Variant::none: return control >> (4 * byte) & 15;
    case Variant::f4e: return n + byte;
    case Variant::b4e: return (n - byte) & 7;
    case Variant::rc8: return n;
    case Variant::ecl: return std::max(n, byte);
    case Variant::ecr: return std::min(n, byte);
    case Variant::rc16: return 2 * (n & 1) + (byte & 1);
    default: throw std::logic_error("a permutation of another kind");
  }
}

std::uint64_t permute_bytes(Variant mode, const std::uint64_t* sources) {
  const std::uint64_t both = sources[1] << 32 | truncate(sources[0], 32);
  std::uint64_t result = 0;
  for (unsigned byte = 0; byte < 4; ++byte) {
    const std::uint64_t selector = select_byte(mode, sources[2], byte);
    std::uint64_t chosen = both >> (8 * (selector & 7)) & 0xff;
    if ((selector & 8) != 0) chosen = (chosen & 0x80) != 0 ? 0xff : 0;
    result |= chosen << (8 * byte);
  }
  return result;
}

// Products of the parts of a (in `parts` pieces) and the bytes of b from `first_byte` on, added up.
std::uint64_t dot_product(const Instruction& instruction, const std::uint64_t* s, unsigned parts, unsigned first_byte) {
  const unsigned bits = 32 / parts;
  std::uint64_t sum = s[2];
  for (unsigned i = 0; i < parts; ++i) {
    const std::uint64_t a = s[0] >> (i * bits), b = s[1] >> (8 * (first_byte + i));
    sum += (is_signed(instruction.type) ? static_cast<std::uint64_t>(sign_extend(a, bits)) : truncate(a, bits)) *
           (is_signed(instruction.from) ? static_cast<std::uint64_t>(sign_extend(b, 8)) : truncate(b, 8));
  }
  return sum;
}

std::uint64_t bit_mask(std::uint64_t place, std::uint64_t length, bool wraps) {
  place = wraps ? place & 31 : std::min<std::uint64_t>(place, 32);
  length = wraps ? length & 31 : std::min<std::uint64_t>(length, 32);
  return truncate(truncate(~std::uint64_t{0}, static_cast<unsigned>(length)) << place, 32);
}

std::uint64_t extend_low_bits(std::uint64_t value, std::uint64_t length, bool wraps, bool with_sign) {
  length = wraps ? length & 31 : std::min<std::uint64_t>(length, 32);
  if (length == 0) return 0;
  const auto bits = static_cast<unsigned>(length);
  return with_sign ? static_cast<std::uint64_t>(sign_extend(value, bits)) : truncate(value, bits);
}

template <typename T>
bool compare(Variant variant, T a, T b) {
  switch (variant) {
    case Variant::eq: return a == b;
    case Variant::ne: return a != b;
    case Variant::lt: return a < b;
    case Variant::le: return a <= b;
    case Variant::gt: return a > b;
    case Variant::ge: return a >= b;
    default: throw std::logic_error("a comparison of another kind");
  }
}

// Of a comparison that is also true where a number is missing.
Variant ordered_form(Variant variant) {
  constexpr int kDistance = static_cast<int>(Variant::equ) - static_cast<int>(Variant::eq);
  return static_cast<Variant>(static_cast<int>(variant) - kDistance);
}

bool compare_values(const Instruction& instruction, const std::uint64_t* sources) {
  if (is_float(instruction.type)) {
    const double a = to_double(sources[0], instruction.type), b = to_double(sources[1], instruction.type);
    const bool unordered = std::isnan(a) || std::isnan(b);
    if (instruction.variant == Variant::nan) return unordered;
    if (instruction.variant == Variant::num) return !unordered;
    if (instruction.variant < Variant::equ) return !unordered && compare(instruction.variant, a, b);
    return unordered || compare(ordered_form(instruction.variant), a, b);
  }
  return compare(instruction.variant, as_number(sources[0], instruction.type), as_number(sources[1], instruction.type));
}

std::uint64_t set_predicate(const Instruction& instruction, const std::uint64_t* sources) {
  const bool result = compare_values(instruction, sources);
  switch (instruction.combine) {
    case Variant::none: return result;
    case Variant::bit_and: return result && sources[2] != 0;
    case Variant::bit_or: return result || sources[2] != 0;
    case Variant::bit_xor: return result != (sources[2] != 0);
    default: throw std::logic_error("predicates combined in another way");
  }
}

std::uint64_t convert_integer(const Instruction& instruction, std::uint64_t source) {
  Wide value = as_number(source, instruction.from);
  const unsigned bits = bits_of(instruction.type);
  if (instruction.saturate) {
    const Wide one = 1;
    const Wide lowest = is_signed(instruction.type) ? -(one << (bits - 1)) : 0;
    const Wide highest = is_signed(instruction.type) ? (one << (bits - 1)) - 1 : (one << bits) - 1;
    value = std::clamp(value, lowest, highest);
  }
  return low(as_number(low(value), instruction.type));
}

std::uint64_t compute_integer(const Instruction& instruction, const std::uint64_t* s) {
  const Type type = instruction.type;
  const unsigned bits = bits_of(type);
  const Wide a = as_number(s[0], type), b = as_number(s[1], type);
  switch (instruction.op) {
    case Op::mov: return s[0];
    case Op::add: return s[0] + s[1];
    case Op::sub: return s[0] - s[1];
    case Op::mul_lo: return s[0] * s[1];
    case Op::mul_hi: return high_product(a, b, type);
    case Op::mul_wide: return low(a * b);
    case Op::mad_lo: return s[0] * s[1] + s[2];
    case Op::mad_hi: return high_product(a, b, type) + s[2];
    case Op::mad_wide: return low(a * b) + s[2];
    case Op::mul24_lo:
    case Op::mul24_hi: {
      const auto part = [&](std::uint64_t v) {
        return is_signed(type) ? Wide{sign_extend(v, 24)} : Wide{truncate(v, 24)};
      };
      return instruction.op == Op::mul24_lo ? low(part(s[0]) * part(s[1])) : high(part(s[0]) * part(s[1]), 16);
    }
    case Op::sad: return low(a > b ? a - b : b - a) + s[2];
    case Op::dp4a: return dot_product(instruction, s, 4, 0);
    case Op::dp2a_lo: return dot_product(instruction, s, 2, 0);
    case Op::dp2a_hi: return dot_product(instruction, s, 2, 2);
    case Op::div: return low(a / b);
    case Op::rem: return low(a % b);
    case Op::abs: return low(a < 0 ? -a : a);
    case Op::neg: return low(-a);
    case Op::min: return low(std::min(a, b));
    case Op::max: return low(std::max(a, b));
    case Op::bit_and: return s[0] & s[1];
    case Op::bit_or: return s[0] | s[1];
    case Op::bit_xor: return s[0] ^ s[1];
    case Op::bit_not: return ~s[0];
    case Op::cnot: return s[0] == 0 ? 1 : 0;
    case Op::lop3: return three_way_logic(s);
    case Op::shl: return shift_left(s[0], truncate(s[1], 32), bits);
    case Op::shr: return shift_right(s[0], truncate(s[1], 32), type);
    case Op::shf_l_wrap:
    case Op::shf_r_wrap:
    case Op::shf_l_clamp:
    case Op::shf_r_clamp: return funnel(instruction.op, s[0], s[1], s[2]);
    case Op::popc: return static_cast<unsigned>(std::popcount(s[0]));
    case Op::clz: return static_cast<unsigned>(std::countl_zero(s[0])) - (64 - bits);
    case Op::bfind: return find_highest(s[0], type);
    case Op::bfind_shift: {
      const std::uint64_t place = find_highest(s[0], type);
      return place == 0xffffffffu ? place : bits - 1 - place;
    }
    case Op::bmsk_clamp: return bit_mask(truncate(s[0], 32), truncate(s[1], 32), false);
    case Op::bmsk_wrap: return bit_mask(s[0], s[1], true);
    case Op::szext_clamp: return extend_low_bits(s[0], truncate(s[1], 32), false, is_signed(type));
    case Op::szext_wrap: return extend_low_bits(s[0], s[1], true, is_signed(type));
    case Op::pack: return s[1] << (bits / 2) | truncate(s[0], bits / 2);
    case Op::brev: return reverse_bits(s[0], bits);
    case Op::bfe: return extract_field(s[0], s[1], s[2], type);
    case Op::bfi: return insert_field(s[0], s[1], s[2], s[3], bits);
    case Op::prmt: return permute_bytes(instruction.variant, s);
    case Op::selp: return s[2] != 0 ? s[0] : s[1];
    case Op::slct: return sign_extend(s[2], 32) >= 0 ? s[0] : s[1];
    default: throw std::logic_error("an instruction that computes no integer");
  }
}

}  // namespace

std::uint64_t compute(const Instruction& instruction, const std::uint64_t* sources, unsigned result_bits) {
  std::uint64_t result = 0;
  if (instruction.op == Op::setp)
    result = set_predicate(instruction, sources);
  else if (instruction.op == Op::cvt && !is_float(instruction.type) && !is_float(instruction.from))
    result = convert_integer(instruction, sources[0]);
  else if (is_float(instruction.type) || (instruction.op == Op::cvt && is_float(instruction.from)))
    result = compute_float(instruction, sources);
  else
    result = compute_integer(instruction, sources);
  return truncate(result, result_bits);
}

std::uint64_t compute_with_carry(const Instruction& instruction, const std::uint64_t* s, bool& carry) {
  const Type type = instruction.type;
  const unsigned bits = bits_of(type);
  std::uint64_t a = s[0], b = s[1];
  bool carry_in = carry;
  switch (instruction.op) {
    case Op::add_cc: carry_in = false; break;
    case Op::addc:
    case Op::addc_cc: break;
    case Op::sub_cc:
      b = ~b;
      carry_in = true;
      break;
    case Op::subc:
    case Op::subc_cc: b = ~b; break;
    case Op::mad_lo_cc:
    case Op::mad_hi_cc: carry_in = false; [[fallthrough]];
    default: {
      const bool is_high = instruction.op >= Op::mad_hi_cc;
      a = is_high ? high_product(as_number(s[0], type), as_number(s[1], type), type) : s[0] * s[1];
      b = s[2];
    }
  }
  const UnsignedWide sum = UnsignedWide{truncate(a, bits)} + truncate(b, bits) + (carry_in ? 1 : 0);
  carry = (sum >> bits & 1) != 0;
  return truncate(static_cast<std::uint64_t>(sum), bits);
}

std::uint64_t compute_atomic(Variant operation, Type type, std::uint64_t old, std::uint64_t value,
                             std::uint64_t desired) {
  if (is_float(type)) return add_floats(type, old, value);
  const Wide a = as_number(old, type), b = as_number(value, type);
  switch (operation) {
    case Variant::add: return old + value;
    case Variant::min: return low(std::min(a, b));
    case Variant::max: return low(std::max(a, b));
    case Variant::inc: return a >= b ? 0 : old + 1;
    case Variant::dec: return a == 0 || a > b ? value : old - 1;
    case Variant::bit_and: return old & value;
    case Variant::bit_or: return old | value;
    case Variant::bit_xor: return old ^ value;
    case Variant::exch: return value;
    case Variant::cas: return old == value ? desired : old;
    default: throw std::logic_error("an atomic operation of another kind");
  }
}

}  // namespace ptx_fuzz
