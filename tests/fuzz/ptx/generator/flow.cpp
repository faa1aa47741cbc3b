// Ifs, loops and the ways out of them.
#include "fuzz/ptx/generator/statements.hpp"

namespace ptx_fuzz {
namespace {

// Statements inside something: the context is put back behind them.
void add_body(Draft& draft, Context context, int most) {
  const Context outside = draft.context;
  context.depth = outside.depth + 1;
  draft.context = std::move(context);
  add_statements(draft, most);
  draft.context = outside;
}

Context alone(const Context& outside) {
  Context inside = outside;
  if (inside.together != Together::nobody) inside.loops.clear();  // those are left by all together
  inside.together = Together::nobody;
  return inside;
}

Context masked(const Context& outside, int mask) {
  Context inside = alone(outside);
  inside.together = Together::warp;
  inside.mask = Operand::reg(mask);
  inside.loops.clear();
  return inside;
}

// vote.sync.ballot over those who are here.
int ballot(Draft& draft, int predicate) {
  const int votes = draft.fresh(RegisterClass::word);
  draft.emit({.op = Op::vote,
              .variant = Variant::ballot,
              .results = {votes},
              .sources = {Operand::reg(predicate), draft.context.mask}});
  return votes;
}

// How often a loop runs, a register: each thread its own number, or the same for all.
int choose_count(Draft& draft, bool uniform) {
  const int most = draft.random.pick({1, 3, 3, 7});
  const int subject = uniform                   ? draft.random.pick(draft.uniforms)
                      : draft.random.chance(40) ? draft.random.pick(draft.read_only)
                                                : draft.register_of(32);
  return draft.make(Op::bit_and, Type::b32, {Operand::reg(subject), Operand::constant(static_cast<unsigned>(most))});
}

// Behind a loop with several exits: each has statements of its own, then all meet.
void add_exits(Draft& draft, const std::vector<int>& exits) {
  const int meeting = draft.new_label();
  for (std::size_t i = 0; i < exits.size(); ++i) {
    draft.place(exits[i]);
    if (i > 0 || draft.random.chance(70)) {
      draft.make(Op::mad_lo, Type::u32,
                 {Operand::reg(draft.register_of(32)), Operand::constant(3), Operand::constant(i + 1)}, draft.words[0]);
      if (draft.random.chance(40)) add_simple_statement(draft);
    }
    if (i + 1 < exits.size()) draft.branch(meeting);
  }
  draft.place(meeting);
}

std::vector<int> new_exits(Draft& draft) {
  std::vector<int> exits(1 + (draft.random.chance(50) ? draft.random.below(3) : 0));
  for (int& exit : exits) exit = draft.new_label();
  return exits;
}

}  // namespace

void add_if(Draft& draft) {
  Random& random = draft.random;
  const bool uniform = draft.context.together == Together::block && random.chance(40);
  const int condition = draft.condition(uniform);
  Context then_context = draft.context, else_context = draft.context;
  if (!uniform) {
    then_context = else_context = alone(draft.context);
    if (draft.context.together != Together::nobody && draft.plan.features.warps && random.chance(50)) {
      const int then_mask = ballot(draft, condition);
      const int others = draft.make(Op::bit_not, Type::b32, {Operand::reg(then_mask)});
      const int else_mask = draft.make(Op::bit_and, Type::b32, {Operand::reg(others), draft.context.mask});
      then_context = masked(draft.context, then_mask);
      else_context = masked(draft.context, else_mask);
    }
  }
  const bool has_else = random.chance(50);
  const int otherwise = draft.new_label(), end = draft.new_label();
  draft.branch(has_else ? otherwise : end, condition, true);
  add_body(draft, then_context, 4);
  if (has_else) {
    draft.branch(end);
    draft.place(otherwise);
    add_body(draft, else_context, 4);
  }
  draft.place(end);
}

// Cases that end or fall through into the next one.
void add_switch(Draft& draft) {
  Random& random = draft.random;
  const bool uniform = draft.context.together == Together::block && random.chance(30);
  const Operand subject = Operand::reg(uniform ? random.pick(draft.uniforms) : draft.register_of(32));
  const int index = draft.make(Op::bit_and, Type::b32, {subject, Operand::constant(3)});
  std::vector<int> cases(random.between(2, 4));
  for (int& label : cases) label = draft.new_label();
  const int end = draft.new_label();
  Instruction table{.op = Op::branch_table, .sources = {Operand::reg(index)}};
  while (table.targets.size() < 4) table.targets.push_back(random.chance(15) ? end : random.pick(cases));
  draft.emit(std::move(table));
  for (const int label : cases) {
    draft.place(label);
    add_body(draft, uniform ? draft.context : alone(draft.context), 2);
    if (random.chance(60)) draft.branch(end);
  }
  draft.place(end);
}

// A counter goes up or down to its end; with several exits if threads leave on their own.
void add_loop(Draft& draft) {
  const bool uniform = draft.context.together == Together::block && draft.random.chance(50);
  const int left = choose_count(draft, uniform);
  const int head = draft.new_label(), again = draft.new_label();
  Context inside = uniform ? draft.context : alone(draft.context);
  std::vector<int> exits = {draft.new_label()};
  if (!uniform) {
    exits = new_exits(draft);
    inside.loops.push_back({again, exits});
  }
  if (draft.random.chance(50)) {  // tested first
    const int none = draft.compare(Variant::eq, Type::u32, Operand::reg(left), Operand::constant(0));
    draft.branch(exits.front(), none);
  }
  draft.place(head);
  draft.read_only.push_back(left);
  add_body(draft, inside, 4);
  draft.read_only.pop_back();
  draft.place(again);
  draft.make(Op::sub, Type::u32, {Operand::reg(left), Operand::constant(1)}, left);
  const int more = draft.compare(Variant::gt, Type::s32, Operand::reg(left), Operand::constant(0));
  draft.branch(head, more);
  add_exits(draft, exits);
}

// while (true) with continues in front of the only break, or of several.
void add_endless_loop(Draft& draft) {
  Random& random = draft.random;
  const int turn = draft.make(Op::mov, Type::u32, {Operand::constant(0)});
  const int head = draft.new_label();
  const std::vector<int> exits = new_exits(draft);
  draft.place(head);
  draft.make(Op::add, Type::u32, {Operand::reg(turn), Operand::constant(1)}, turn);
  const int early = draft.compare(Variant::lt, Type::u32, Operand::reg(turn), Operand::constant(3 + random.below(8)));
  if (random.chance(70)) {
    const int other = draft.make(Op::add, Type::u32, {Operand::reg(turn), Operand::reg(random.pick(draft.read_only))});
    const int bit = draft.make(Op::bit_and, Type::b32, {Operand::reg(other), Operand::constant(1 + random.below(3))});
    int again = draft.compare(Variant::ne, Type::u32, Operand::reg(bit), Operand::constant(0));
    again = draft.make(Op::bit_and, Type::pred, {Operand::reg(again), Operand::reg(early)});
    const int skip = draft.new_label();
    draft.branch(skip, again, true);
    add_simple_statement(draft);
    draft.branch(head);
    draft.place(skip);
  }
  Context inside = alone(draft.context);
  inside.loops.push_back({-1, exits});
  if (random.chance(50)) add_body(draft, inside, 3);
  const int enough = draft.compare(Variant::gt, Type::u32, Operand::reg(turn), Operand::constant(1 + random.below(6)));
  draft.branch(random.pick(exits), enough);
  add_body(draft, inside, 3);
  draft.branch(head);
  add_exits(draft, exits);
}

// Those who go on agree on who they are each time.
void add_masked_loop(Draft& draft) {
  const int left = choose_count(draft, false);
  const int mask = draft.make(Op::mov, Type::u32, {draft.context.mask});
  const int head = draft.new_label(), end = draft.new_label();
  draft.place(head);
  const int more = draft.compare(Variant::gt, Type::s32, Operand::reg(left), Operand::constant(0));
  draft.emit({.op = Op::vote,
              .variant = Variant::ballot,
              .results = {mask},
              .sources = {Operand::reg(more), Operand::reg(mask)}});
  draft.branch(end, more, true);
  draft.make(Op::sub, Type::u32, {Operand::reg(left), Operand::constant(1)}, left);
  add_body(draft, masked(draft.context, mask), 4);
  draft.branch(head);
  draft.place(end);
}

// break or continue, of this loop or of one around it.
void add_jump_out(Draft& draft) {
  const Loop& loop = draft.random.pick(draft.context.loops);
  const int to = loop.again >= 0 && draft.random.chance(35) ? loop.again : draft.random.pick(loop.exits);
  const int condition = draft.condition();
  if (draft.random.chance(50)) return draft.branch(to, condition, draft.random.chance(50));
  const int stay = draft.new_label();
  draft.branch(stay, condition);
  add_simple_statement(draft);
  draft.branch(to);
  draft.place(stay);
}

void add_exit(Draft& draft) {
  const int condition = draft.condition();
  if (draft.own_global >= 0)
    draft.emit({.op = Op::store,
                .type = Type::u32,
                .space = Space::global,
                .offset = 4 * static_cast<int>(draft.random.below(8)),
                .guard = condition,
                .sources = {Operand::reg(draft.own_global), Operand::reg(draft.register_of(32))}});
  draft.emit({.op = draft.is_kernel() && draft.random.chance(50) ? Op::ret : Op::exit, .guard = condition});
}

}  // namespace ptx_fuzz
