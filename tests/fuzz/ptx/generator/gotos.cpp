// Blocks that jump to each other in any way: loops with several entries, jumps into and out of them.
#include "fuzz/ptx/generator/statements.hpp"

namespace ptx_fuzz {

void add_gotos(Draft& draft) {
  Random& random = draft.random;
  const bool uniform = draft.context.together == Together::block && random.chance(30);
  const Context outside = draft.context;
  if (!uniform) {
    draft.context.together = Together::nobody;
    if (outside.together != Together::nobody) draft.context.loops.clear();
  }
  ++draft.context.depth;

  // Every jump back takes from what is left, so all ends.
  const int left = draft.make(Op::mov, Type::u32, {Operand::constant(2 + random.below(10))});
  std::vector<int> blocks(2 + random.below(5));
  for (int& block : blocks) block = draft.new_label();
  const int end = draft.new_label();
  const auto target = [&](std::size_t place) { return place < blocks.size() ? blocks[place] : end; };
  if (random.chance(60)) draft.branch(random.pick(blocks), draft.condition(uniform));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    draft.place(blocks[i]);
    if (uniform)
      add_statements(draft, 1);
    else
      for (int n = random.between(0, 2); n > 0; --n) add_simple_statement(draft);
    for (int n = random.between(0, 2); n > 0; --n) {
      const std::size_t to = random.below(blocks.size() + 1);
      int condition = draft.condition(uniform);
      if (to <= i) {
        draft.make(Op::sub, Type::u32, {Operand::reg(left), Operand::constant(1)}, left);
        const int enough = draft.compare(Variant::gt, Type::s32, Operand::reg(left), Operand::constant(0));
        condition = random.chance(20)
                        ? enough
                        : draft.make(Op::bit_and, Type::pred, {Operand::reg(condition), Operand::reg(enough)});
      }
      draft.branch(target(to), condition);
    }
    if (random.chance(40) && i + 2 <= blocks.size()) draft.branch(target(i + 2 + random.below(blocks.size() - i - 1)));
  }
  draft.place(end);
  draft.context = outside;
}

}  // namespace ptx_fuzz
