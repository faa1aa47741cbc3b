// Statements that compute floating-point numbers, in the registers that hold integers too.
#include "fuzz/ptx/generator/statements.hpp"

namespace ptx_fuzz {
namespace {

// Bits of integers are rarely numbers of a useful size: take small integers instead.
Operand number(Draft& draft, Type type) {
  const unsigned bits = bits_of(type);
  if (draft.random.chance(50)) return Operand::reg(draft.register_of(bits));
  const int result = draft.fresh(class_for(bits));
  const Type from = draft.random.chance(50) ? Type::s32 : Type::s16;
  // Other conversions take the low part of a wider register.
  const unsigned source_bits = type == Type::bf16 ? bits_of(from) : 32;
  draft.emit({.op = Op::cvt,
              .type = type,
              .from = from,
              .variant = Variant::rn,
              .results = {result},
              .sources = {Operand::reg(draft.register_of(source_bits))}});
  return Operand::reg(result);
}

void add_to_integer(Draft& draft, Type type) {
  // NaN becomes another integer by type: not taken.
  const unsigned bits = bits_of(type);
  const Operand source = Operand::reg(draft.register_of(bits));
  const int is_nan = draft.compare(Variant::nan, type, source, source);
  const int safe = draft.make(Op::selp, make_type('b', bits), {Operand::constant(0), source, Operand::reg(is_nan)});
  const Type to = draft.random.pick({Type::u32, Type::s32, Type::u64, Type::s64});
  draft.emit({.op = Op::cvt,
              .type = to,
              .from = type,
              .variant = draft.random.pick({Variant::rzi, Variant::rni, Variant::rmi, Variant::rpi}),
              .results = {draft.register_of(bits_of(to))},
              .sources = {Operand::reg(safe)}});
}

void add_resized(Draft& draft, Type type) {
  Type from = type == Type::bf16 ? Type::f32 : type;
  while (from == type) from = draft.random.pick({Type::f16, Type::f32, Type::f64});
  if (type == Type::f32 && draft.random.chance(30)) from = Type::bf16;
  draft.emit({.op = Op::cvt,
              .type = type,
              .from = from,
              .variant = bits_of(type) < bits_of(from) ? Variant::rn : Variant::none,
              .results = {draft.register_of(bits_of(type))},
              .sources = {Operand::reg(draft.register_of(bits_of(from)))}});
}

void add_comparison(Draft& draft, Type type) {
  Instruction compare{.op = Op::setp, .type = type};
  compare.variant = draft.random.pick({Variant::eq, Variant::ne, Variant::lt, Variant::le, Variant::gt, Variant::ge,
                                       Variant::equ, Variant::neu, Variant::ltu, Variant::leu, Variant::gtu,
                                       Variant::geu, Variant::num, Variant::nan});
  compare.results = {draft.register_of(1)};
  compare.sources = {number(draft, type), number(draft, type)};
  if (draft.random.chance(30)) {
    compare.combine = draft.random.pick({Variant::bit_and, Variant::bit_or, Variant::bit_xor});
    compare.sources.push_back(Operand::reg(draft.register_of(1)));
  }
  draft.emit(std::move(compare));
}

// Two small integers, or any bits.
Operand packed_number(Draft& draft, Type type) {
  if (draft.random.chance(30)) return Operand::reg(draft.register_of(32));
  return Operand::reg(draft.make(Op::pack, Type::b32, {number(draft, half_of(type)), number(draft, half_of(type))}));
}

Op choose_operation(Random& random) {
  return random.pick({Op::add, Op::sub, Op::mul_lo, Op::fma, Op::min, Op::max, Op::neg, Op::abs});
}

std::size_t operands_of(Op op) {
  switch (op) {
    case Op::neg:
    case Op::abs:
    case Op::sqrt:
    case Op::rcp: return 1;
    case Op::fma: return 3;
    default: return 2;
  }
}

// Of two zeros, either may be the smaller one.
void settle_zero(Draft& draft, Op op, Type type, int result) {
  if (op != Op::min && op != Op::max) return;
  const int zero = draft.make(Op::mov, make_type('b', bits_of(type)), {Operand::constant(0)});
  draft.make(Op::add, type, {Operand::reg(result), Operand::reg(zero)}, result);
}

}  // namespace

void add_float(Draft& draft) {
  Random& random = draft.random;
  const Type type = random.pick({Type::f16, Type::f32, Type::f32, Type::f64, Type::bf16});
  if (type != Type::bf16 && random.chance(15)) return add_to_integer(draft, type);
  if (random.chance(10)) return add_resized(draft, type);
  if (random.chance(12)) return add_comparison(draft, type);
  Op op = choose_operation(random);
  if (bits_of(type) >= 32 && random.chance(15)) op = random.pick({Op::div, Op::sqrt, Op::rcp});
  std::vector<Operand> sources;
  while (sources.size() < operands_of(op)) sources.push_back(number(draft, type));
  const int result = draft.register_of(bits_of(type));
  draft.make(op, type, sources, result);
  settle_zero(draft, op, type, result);
}

void add_packed(Draft& draft) {
  const Type type = draft.random.chance(60) ? Type::f16x2 : Type::bf16x2;
  const Op op = choose_operation(draft.random);
  std::vector<Operand> sources;
  while (sources.size() < operands_of(op)) sources.push_back(packed_number(draft, type));
  const int result = draft.register_of(32);
  draft.make(op, type, sources, result);
  settle_zero(draft, op, type, result);
}

}  // namespace ptx_fuzz
