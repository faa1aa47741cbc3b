// Arithmetic of extended precision: chains of instructions that hand on a carry.
#include "fuzz/ptx/generator/statements.hpp"

namespace ptx_fuzz {
namespace {

constexpr Op kFirst[] = {Op::add_cc, Op::add_cc, Op::sub_cc, Op::sub_cc, Op::mad_lo_cc, Op::mad_hi_cc};
constexpr Op kNext[] = {Op::addc_cc, Op::addc_cc, Op::subc_cc, Op::subc_cc, Op::madc_lo_cc, Op::madc_hi_cc};
constexpr Op kLast[] = {Op::addc, Op::addc, Op::subc, Op::subc, Op::madc_lo, Op::madc_hi};

bool multiplies(Op op) { return op >= Op::mad_lo_cc; }

void add_link(Draft& draft, Op op, Type type) {
  std::vector<Operand> sources = {Operand::reg(draft.register_of(bits_of(type))), draft.value(type)};
  if (multiplies(op)) sources.push_back(Operand::reg(draft.register_of(bits_of(type))));
  draft.make(op, type, sources, draft.register_of(bits_of(type)));
}

}  // namespace

void add_carry_chain(Draft& draft) {
  Random& random = draft.random;
  const Type type = make_type(random.chance(50) ? 'u' : 's', random.chance(60) ? 32 : 64);
  // Mostly all add or all subtract; but a sum may also take what a difference leaves.
  std::size_t kind = random.below(std::size(kFirst));
  const bool is_pure = random.chance(60);
  const auto next = [&](const Op(&of)[6]) {
    if (!is_pure) kind = random.below(std::size(kFirst));
    return of[kind];
  };
  add_link(draft, next(kFirst), type);
  for (unsigned n = random.below(3); n > 0; --n) add_link(draft, next(kNext), type);
  add_link(draft, next(kLast), type);
}

}  // namespace ptx_fuzz
