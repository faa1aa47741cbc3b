// Barriers of the block, and what threads tell each other over them.
#include "fuzz/ptx/generator/statements.hpp"

namespace ptx_fuzz {
namespace {

// A barrier that all threads of the block wait at.
void add_barrier(Draft& draft, unsigned number, bool aligned) {
  draft.emit(
      {.op = Op::barrier_sync, .aligned = aligned, .sources = {Operand::constant(number), Operand::constant(0)}});
}

void put(Draft& draft) {
  draft.emit(
      {.op = Op::store,
       .type = Type::u32,
       .space = Space::shared,
       .sources = {Operand::reg(draft.address(draft.exchange, draft.thread, 4)), Operand::reg(draft.register_of(32))}});
}

void get(Draft& draft, int place) {
  draft.emit({.op = Op::load,
              .type = Type::u32,
              .space = Space::shared,
              .results = {draft.register_of(32)},
              .sources = {Operand::reg(draft.address(draft.exchange, place, 4))}});
}

// Some thread of `first` to `first` + `count` - 1.
int some_place(Draft& draft, unsigned first, unsigned count) {
  Random& random = draft.random;
  const Operand subject = Operand::reg(random.chance(60) ? draft.thread : draft.register_of(32));
  const int scaled = draft.make(Op::mad_lo, Type::u32,
                                {subject, Operand::constant(random.below(8)), Operand::constant(random.below(count))});
  const int place = draft.make(Op::rem, Type::u32, {Operand::reg(scaled), Operand::constant(count)});
  return first == 0 ? place : draft.make(Op::add, Type::u32, {Operand::reg(place), Operand::constant(first)});
}

int some_thread(Draft& draft) { return some_place(draft, 0, draft.program.block.count()); }

// Producers go on while consumers wait for them.
void add_producers(Draft& draft, unsigned warps) {
  const unsigned threads = 32 * warps;
  const int place = some_thread(draft);
  put(draft);
  const int is_producer = draft.compare(Variant::lt, Type::u32, Operand::reg(draft.thread),
                                        Operand::constant(32 * (1 + draft.random.below(warps - 1))));
  const int consume = draft.new_label(), end = draft.new_label();
  const std::vector<Operand> barrier = {Operand::constant(5), Operand::constant(threads)};
  draft.branch(consume, is_producer, true);
  draft.emit({.op = Op::barrier_arrive, .sources = barrier});
  add_simple_statement(draft);
  draft.branch(end);
  draft.place(consume);
  draft.emit({.op = Op::barrier_sync, .sources = barrier});
  get(draft, place);
  draft.place(end);
}

// Two groups of warps, each with a barrier of its own.
void add_groups(Draft& draft, unsigned warps) {
  const unsigned first = 32 * (1 + draft.random.below(warps - 1)), second = 32 * warps - first;
  const int is_first = draft.compare(Variant::lt, Type::u32, Operand::reg(draft.thread), Operand::constant(first));
  const int other = draft.new_label(), end = draft.new_label();
  draft.branch(other, is_first, true);
  for (const bool is_other : {false, true}) {
    if (is_other) draft.place(other);
    const unsigned begin = is_other ? first : 0, count = is_other ? second : first;
    const int place = some_place(draft, begin, count);
    put(draft);
    Instruction barrier{.op = Op::barrier_sync,
                        .aligned = draft.random.chance(70),
                        .sources = {Operand::constant(is_other ? 6 : 7), Operand::constant(count)}};
    if (draft.random.chance(40)) {
      barrier.op = Op::barrier_reduce;
      barrier.variant = draft.random.pick({Variant::popc, Variant::bit_and, Variant::bit_or});
      barrier.results = {draft.register_of(barrier.variant == Variant::popc ? 32 : 1)};
      barrier.sources.push_back(Operand::reg(draft.register_of(1)));
    }
    draft.emit(std::move(barrier));
    get(draft, place);
    if (!is_other) draft.branch(end);
  }
  draft.place(end);
}

}  // namespace

void add_exchange(Draft& draft) {
  Random& random = draft.random;
  const unsigned number = random.chance(70) ? 0 : random.below(4);
  const int place = some_thread(draft);
  put(draft);
  add_barrier(draft, number, random.chance(75));
  if (random.chance(30)) add_simple_statement(draft);
  get(draft, place);
  add_barrier(draft, random.chance(70) ? number : random.below(4), random.chance(75));
}

void add_barrier_reduction(Draft& draft) {
  Random& random = draft.random;
  Instruction barrier{.op = Op::barrier_reduce,
                      .variant = random.pick({Variant::popc, Variant::bit_and, Variant::bit_or})};
  barrier.aligned = random.chance(75);
  barrier.sources = {Operand::constant(8 + random.below(2)), Operand::constant(0), Operand::reg(draft.condition())};
  if (barrier.variant == Variant::popc)
    barrier.results = {random.chance(60) ? random.pick(draft.uniforms) : draft.register_of(32)};
  else
    barrier.results = {draft.register_of(1)};
  draft.emit(std::move(barrier));
}

// Both ways of a branch end in the same barrier, at different places of the code.
void add_barrier_in_pieces(Draft& draft) {
  Random& random = draft.random;
  const int condition = draft.condition(), place = some_thread(draft);
  const int otherwise = draft.new_label(), end = draft.new_label();
  const unsigned number = 10 + random.below(2);
  draft.branch(otherwise, condition, true);
  for (const bool is_other : {false, true}) {
    if (is_other) draft.place(otherwise);
    for (int n = random.between(0, 2); n > 0; --n) add_simple_statement(draft);
    put(draft);
    add_barrier(draft, number, false);
    if (random.chance(70)) get(draft, place);
    if (!is_other) draft.branch(end);
  }
  draft.place(end);
  add_barrier(draft, 0, random.chance(75));
}

// All add to one word of shared memory; behind a barrier it is the same in whatever order they did.
void add_total(Draft& draft) {
  Random& random = draft.random;
  SharedLayout& layout = draft.plan.shared;
  if (layout.common_used == SharedLayout::kCommonBytes) return add_exchange(draft);
  const int place = static_cast<int>(layout.common_used);
  layout.common_used += 8;
  Instruction add{.op = Op::reduction, .type = Type::b32, .space = Space::shared, .offset = place};
  add.variant = random.pick({Variant::add, Variant::max, Variant::bit_or, Variant::bit_xor});
  if (add.variant == Variant::add || add.variant == Variant::max) add.type = Type::u32;
  add.sources = {Operand::reg(draft.shared_common), Operand::reg(draft.register_of(32))};
  if (random.chance(40)) {
    add.guard = draft.register_of(1);
    add.guard_negated = random.chance(50);
  }
  draft.emit(std::move(add));
  add_barrier(draft, 0, random.chance(75));
  draft.emit({.op = Op::load,
              .type = Type::u32,
              .space = Space::shared,
              .offset = place,
              .results = {random.chance(50) ? random.pick(draft.uniforms) : draft.register_of(32)},
              .sources = {Operand::reg(draft.shared_common)}});
  add_barrier(draft, 0, random.chance(75));
}

void add_named_barriers(Draft& draft) {
  const unsigned threads = draft.program.block.count();
  // Counts are of whole warps, and nobody counted may be gone.
  if (threads % 32 != 0 || threads < 64 || draft.plan.features.exits) return add_exchange(draft);
  if (draft.random.chance(50))
    add_producers(draft, threads / 32);
  else
    add_groups(draft, threads / 32);
  add_barrier(draft, 0, true);
}

}  // namespace ptx_fuzz
