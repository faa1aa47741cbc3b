// Statements that compute a value from values.
#include "fuzz/ptx/generator/statements.hpp"

namespace ptx_fuzz {
namespace {

// An integer instruction. `result` and each letter of `sources` say what an operand is:
//   t  of the instruction's type      x  twice as wide             w  32 bits
//   a  an amount to shift by          f  a bit field's place or length, of up to 255 bits
//   q  the same, of up to 64 bits     y  half as wide
//   n  a divisor                      p  a predicate               c  a byte, constant
struct Form {
  Op op;
  const char* kinds;  // signs of its types
  unsigned widths;    // any of 16 | 32 | 64
  char result;
  const char* sources;
};

constexpr Form kForms[] = {
    {Op::mov, "b", 16 | 32 | 64, 't', "t"},
    {Op::add, "us", 16 | 32 | 64, 't', "tt"},
    {Op::add, "us", 16 | 32 | 64, 't', "tt"},
    {Op::sub, "us", 16 | 32 | 64, 't', "tt"},
    {Op::mul_lo, "us", 16 | 32 | 64, 't', "tt"},
    {Op::mul_hi, "us", 16 | 32 | 64, 't', "tt"},
    {Op::mul_wide, "us", 16 | 32, 'x', "tt"},
    {Op::mad_lo, "us", 16 | 32 | 64, 't', "ttt"},
    {Op::mad_hi, "us", 32 | 64, 't', "ttt"},
    {Op::mad_wide, "us", 16 | 32, 'x', "ttx"},
    {Op::mul24_lo, "us", 32, 't', "tt"},
    {Op::mul24_hi, "us", 32, 't', "tt"},
    {Op::sad, "us", 16 | 32 | 64, 't', "ttt"},
    {Op::dp4a, "us", 32, 't', "ttt"},
    {Op::dp2a_lo, "us", 32, 't', "ttt"},
    {Op::dp2a_hi, "us", 32, 't', "ttt"},
    {Op::div, "us", 16 | 32 | 64, 't', "tn"},
    {Op::rem, "us", 16 | 32 | 64, 't', "tn"},
    {Op::abs, "s", 16 | 32 | 64, 't', "t"},
    {Op::neg, "s", 16 | 32 | 64, 't', "t"},
    {Op::min, "us", 16 | 32 | 64, 't', "tt"},
    {Op::max, "us", 16 | 32 | 64, 't', "tt"},
    {Op::bit_and, "b", 16 | 32 | 64, 't', "tt"},
    {Op::bit_or, "b", 16 | 32 | 64, 't', "tt"},
    {Op::bit_xor, "b", 16 | 32 | 64, 't', "tt"},
    {Op::bit_not, "b", 16 | 32 | 64, 't', "t"},
    {Op::cnot, "b", 16 | 32 | 64, 't', "t"},
    {Op::lop3, "b", 32, 't', "tttc"},
    {Op::shl, "b", 16 | 32 | 64, 't', "ta"},
    {Op::shl, "b", 16 | 32 | 64, 't', "ta"},
    {Op::shr, "us", 16 | 32 | 64, 't', "ta"},
    {Op::shr, "us", 16 | 32 | 64, 't', "ta"},
    {Op::shf_l_wrap, "b", 32, 't', "tta"},
    {Op::shf_r_wrap, "b", 32, 't', "tta"},
    {Op::shf_l_clamp, "b", 32, 't', "tta"},
    {Op::shf_r_clamp, "b", 32, 't', "tta"},
    {Op::popc, "b", 32 | 64, 'w', "t"},
    {Op::clz, "b", 32 | 64, 'w', "t"},
    {Op::bfind, "us", 32 | 64, 'w', "t"},
    {Op::bfind_shift, "us", 32 | 64, 'w', "t"},
    {Op::bmsk_clamp, "b", 32, 't', "qq"},
    {Op::bmsk_wrap, "b", 32, 't', "qq"},
    {Op::szext_clamp, "us", 32, 't', "tq"},
    {Op::szext_wrap, "us", 32, 't', "tq"},
    {Op::brev, "b", 32 | 64, 't', "t"},
    {Op::bfe, "us", 32 | 64, 't', "tff"},
    {Op::bfi, "b", 32 | 64, 't', "ttff"},
    {Op::prmt, "b", 32, 't', "ttt"},
    {Op::prmt, "b", 32, 't', "ttt"},
    {Op::pack, "b", 32 | 64, 't', "yy"},
    {Op::selp, "bus", 16 | 32 | 64, 't', "ttp"},
    {Op::slct, "us", 16 | 32 | 64, 't', "ttw"},
};

Operand masked(Draft& draft, unsigned mask) {
  return Operand::reg(
      draft.make(Op::bit_and, Type::b32, {Operand::reg(draft.register_of(32)), Operand::constant(mask)}));
}

// A number up to `most`, one less than a power of two, of which ptxas does not know which it is: it takes constants
// that are too large for others, also where it finds out only by itself that something is constant. In registers they
// mean what the ISA says.
Operand unknown_number(Draft& draft, unsigned most) {
  const int scaled = draft.make(Op::mad_lo, Type::u32,
                                {Operand::reg(draft.thread), Operand::constant(2 * draft.random.below(most / 2) + 1),
                                 Operand::constant(draft.random.below(most))});
  return Operand::reg(draft.make(Op::bit_and, Type::b32, {Operand::reg(scaled), Operand::constant(most)}));
}

// Never too large if it is a constant, or one in disguise.
Operand amount(Draft& draft, unsigned usual, unsigned most) {
  if (draft.random.chance(60)) return Operand::constant(draft.random.below(usual));
  return draft.random.chance(50) ? masked(draft, usual - 1) : unknown_number(draft, most);
}

// Never 0, and never -1, by which the lowest number can't be divided.
Operand divisor(Draft& draft, Type type) {
  const unsigned bits = bits_of(type);
  if (draft.random.chance(40)) return Operand::constant(1 + draft.random.below(100));
  Operand value = Operand::reg(draft.register_of(bits));
  const Type raw = make_type('b', bits);
  if (is_signed(type)) value = Operand::reg(draft.make(Op::bit_and, raw, {value, Operand::constant(0x7f)}));
  return Operand::reg(draft.make(Op::bit_or, raw, {value, Operand::constant(1)}));
}

Operand source(Draft& draft, char what, Type type) {
  const unsigned bits = bits_of(type);
  switch (what) {
    case 'x': return Operand::reg(draft.register_of(2 * bits));
    case 'w': return Operand::reg(draft.register_of(32));
    case 'a': return amount(draft, bits, 2 * bits - 1);
    case 'f': return amount(draft, 32, 255);
    case 'q': return amount(draft, 32, 63);
    case 'y': return Operand::reg(draft.register_of(bits / 2));
    case 'n': return divisor(draft, type);
    case 'p': return Operand::reg(draft.register_of(1));
    case 'c': return Operand::constant(draft.random.below(256));
    default: return draft.value(type);
  }
}

unsigned pick_width(Random& random, unsigned widths) {
  for (;;) {
    const unsigned width = random.pick({16u, 32u, 32u, 64u});
    if ((widths & width) != 0) return width;
  }
}

// Some statements are done by some threads only.
void maybe_guard(Draft& draft, Instruction& instruction) {
  if (!draft.random.chance(12)) return;
  instruction.guard = draft.register_of(1);
  instruction.guard_negated = draft.random.chance(50);
}

// ptxas takes .sat only where there is something to saturate.
bool may_saturate(Type from, Type to) {
  if (is_signed(from) && !is_signed(to)) return true;
  const unsigned from_digits = bits_of(from) - (is_signed(from) ? 1 : 0);
  const unsigned to_digits = bits_of(to) - (is_signed(to) ? 1 : 0);
  return from_digits > to_digits;
}

void add_conversion(Draft& draft) {
  Random& random = draft.random;
  const Type from = make_type(random.chance(50) ? 'u' : 's', random.pick({8u, 16u, 32u, 64u}));
  Type to = make_type(random.chance(50) ? 'u' : 's', random.pick({8u, 16u, 32u, 64u}));
  // ptxas extends the sign of some constants in cvt.s64.u32.
  if (!is_signed(from) && bits_of(to) > bits_of(from)) to = make_type('u', bits_of(to));
  Instruction convert{.op = Op::cvt, .type = to, .from = from, .saturate = may_saturate(from, to) && random.chance(15)};
  // Numbers of 8 bits are in wider registers.
  const unsigned wide_from = bits_of(from) == 8 ? random.pick({16u, 32u}) : bits_of(from);
  const unsigned wide_to = bits_of(to) == 8 ? random.pick({16u, 32u}) : bits_of(to);
  convert.sources = {Operand::reg(draft.register_of(wide_from))};
  convert.results = {draft.register_of(wide_to)};
  maybe_guard(draft, convert);
  draft.emit(convert);
}

// The halves of a register into two others.
void add_unpacking(Draft& draft) {
  const unsigned bits = draft.random.pick({32u, 64u});
  const std::vector<int>& pool = draft.pool(bits / 2);
  const std::size_t first = draft.random.below(pool.size());
  draft.emit({.op = Op::unpack,
              .type = make_type('b', bits),
              .results = {pool[first], pool[(first + 1) % pool.size()]},
              .sources = {Operand::reg(draft.register_of(bits))}});
}

// What a thread is, scaled: where most addresses come from.
void add_index(Draft& draft) {
  const Operand scale = Operand::constant(draft.constant(32)), more = draft.word();
  draft.make(Op::mad_lo, Type::u32, {Operand::reg(draft.random.pick(draft.read_only)), scale, more},
             draft.register_of(32));
}

}  // namespace

void add_integer(Draft& draft) {
  Random& random = draft.random;
  if (random.chance(4)) return add_unpacking(draft);
  if (random.chance(20)) return add_conversion(draft);
  if (random.chance(8)) return add_index(draft);
  const Form& form = random.pick(kForms);
  const unsigned width = pick_width(random, form.widths);
  const std::string_view kinds = form.kinds;
  const Type type = make_type(kinds[random.below(kinds.size())], width);
  Instruction instruction{.op = form.op, .type = type};
  if (form.op == Op::prmt && random.chance(50))
    instruction.variant =
        random.pick({Variant::f4e, Variant::b4e, Variant::rc8, Variant::ecl, Variant::ecr, Variant::rc16});
  if (form.op == Op::dp4a || form.op == Op::dp2a_lo || form.op == Op::dp2a_hi)
    instruction.from = random.chance(50) ? Type::u32 : Type::s32;
  for (const char* what = form.sources; *what != 0; ++what) instruction.sources.push_back(source(draft, *what, type));
  instruction.results = {draft.register_of(form.result == 't' ? width : form.result == 'x' ? 2 * width : 32)};
  maybe_guard(draft, instruction);
  draft.emit(std::move(instruction));
}

void add_uniform(Draft& draft) {
  const auto uniform = [&] { return Operand::reg(draft.random.pick(draft.uniforms)); };
  const Op op = draft.random.pick({Op::add, Op::mul_lo, Op::sub, Op::min, Op::max});
  const Operand second = draft.random.chance(50) ? uniform() : Operand::constant(draft.random.below(100));
  draft.make(op, Type::u32, {uniform(), second}, draft.random.pick(draft.uniforms));
}

void add_predicate(Draft& draft) {
  Random& random = draft.random;
  if (random.chance(30)) {
    const Op op = random.pick({Op::bit_and, Op::bit_or, Op::bit_xor, Op::bit_not, Op::mov});
    std::vector<Operand> sources = {Operand::reg(draft.register_of(1))};
    if (op != Op::bit_not && op != Op::mov) sources.push_back(Operand::reg(draft.register_of(1)));
    draft.make(op, Type::pred, sources, draft.register_of(1));
    return;
  }
  const Type type = make_type(random.chance(50) ? 'u' : 's', random.pick({16u, 32u, 32u, 64u}));
  Instruction compare{.op = Op::setp, .type = type};
  compare.variant = random.pick({Variant::eq, Variant::ne, Variant::lt, Variant::le, Variant::gt, Variant::ge});
  compare.results = {draft.register_of(1)};
  compare.sources = {Operand::reg(draft.register_of(bits_of(type))), draft.value(type)};
  if (random.chance(30)) {
    compare.combine = random.pick({Variant::bit_and, Variant::bit_or, Variant::bit_xor});
    compare.sources.push_back(Operand::reg(draft.register_of(1)));
  }
  maybe_guard(draft, compare);
  draft.emit(std::move(compare));
}

}  // namespace ptx_fuzz
