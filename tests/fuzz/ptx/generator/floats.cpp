// Statements that compute floating-point numbers, in the registers that hold integers too.
#include "fuzz/ptx/generator/statements.hpp"

namespace ptx_fuzz {
namespace {

std::uint64_t canonical_nan(Type type) {
  if (type == Type::f16) return 0x7fff;
  return type == Type::f64 ? 0x7ff8000000000000u : 0x7fc00000u;
}

// Which NaN an instruction gives is nobody's business: all become the same one.
void make_canonical(Draft& draft, Type type, int number) {
  const unsigned bits = bits_of(type);
  const int is_nan = draft.compare(Variant::nan, type, Operand::reg(number), Operand::reg(number));
  draft.make(Op::selp, make_type('b', bits),
             {Operand::constant(canonical_nan(type)), Operand::reg(number), Operand::reg(is_nan)}, number);
}

// Bits of integers are rarely numbers of a useful size: take small integers instead.
Operand number(Draft& draft, Type type) {
  const unsigned bits = bits_of(type);
  if (draft.random.chance(50)) return Operand::reg(draft.register_of(bits));
  const int result = draft.fresh(class_for(bits));
  draft.emit({.op = Op::cvt,
              .type = type,
              .from = draft.random.chance(50) ? Type::s32 : Type::s16,
              .variant = Variant::rn,
              .results = {result},
              .sources = {Operand::reg(draft.register_of(32))}});
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
              .variant = Variant::rzi,
              .results = {draft.register_of(bits_of(to))},
              .sources = {Operand::reg(safe)}});
}

void add_resized(Draft& draft, Type type) {
  Type from = type;
  while (from == type) from = draft.random.pick({Type::f16, Type::f32, Type::f64});
  const int result = draft.register_of(bits_of(type));
  draft.emit({.op = Op::cvt,
              .type = type,
              .from = from,
              .variant = bits_of(type) < bits_of(from) ? Variant::rn : Variant::none,
              .results = {result},
              .sources = {Operand::reg(draft.register_of(bits_of(from)))}});
  make_canonical(draft, type, result);
}

}  // namespace

void add_float(Draft& draft) {
  Random& random = draft.random;
  const Type type = random.pick({Type::f16, Type::f32, Type::f32, Type::f64});
  if (random.chance(15)) return add_to_integer(draft, type);
  if (random.chance(10)) return add_resized(draft, type);
  const Op op = random.pick({Op::add, Op::sub, Op::mul_lo, Op::fma, Op::min, Op::max, Op::neg, Op::abs});
  std::vector<Operand> sources = {number(draft, type)};
  const std::size_t count = op == Op::neg || op == Op::abs ? 1 : op == Op::fma ? 3 : 2;
  while (sources.size() < count) sources.push_back(number(draft, type));
  const int result = draft.register_of(bits_of(type));
  draft.make(op, type, sources, result);
  // Of two zeros, either may be the smaller one.
  if (op == Op::min || op == Op::max) {
    const int zero = draft.make(Op::mov, make_type('b', bits_of(type)), {Operand::constant(0)});
    draft.make(Op::add, type, {Operand::reg(result), Operand::reg(zero)}, result);
  }
  make_canonical(draft, type, result);
}

}  // namespace ptx_fuzz
