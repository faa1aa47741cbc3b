// Operations of a warp: votes, shuffles, matches, reductions.
#include "fuzz/ptx/generator/statements.hpp"

namespace ptx_fuzz {
namespace {

// Of each warp the lanes from 0 up to some last one are here, in most warps all.
bool no_lane_is_missing(const Draft& draft) {
  return draft.context.together == Together::block && !draft.plan.features.exits;
}
bool warps_are_full(const Draft& draft) { return draft.program.block.count() % 32 == 0; }

int ballot_of_all(Draft& draft) {
  const int yes = draft.compare(Variant::eq, Type::u32, Operand::reg(draft.lane), Operand::reg(draft.lane));
  const int present = draft.fresh(RegisterClass::word);
  draft.emit({.op = Op::vote,
              .variant = Variant::ballot,
              .results = {present},
              .sources = {Operand::reg(yes), draft.context.mask}});
  return present;
}

// A lane that takes part, or the thread's own.
int choose_lane(Draft& draft, int present) {
  Random& random = draft.random;
  const int wanted = draft.make(
      Op::add, Type::u32,
      {Operand::reg(random.chance(50) ? draft.lane : draft.register_of(32)), Operand::constant(random.below(32))});
  const int lane = draft.make(Op::bit_and, Type::b32, {Operand::reg(wanted), Operand::constant(31)});
  const int shifted = draft.make(Op::shr, Type::u32, {Operand::reg(present), Operand::reg(lane)});
  const int bit = draft.make(Op::bit_and, Type::b32, {Operand::reg(shifted), Operand::constant(1)});
  const int is_there = draft.compare(Variant::ne, Type::u32, Operand::reg(bit), Operand::constant(0));
  return draft.make(Op::selp, Type::b32, {Operand::reg(lane), Operand::reg(draft.lane), Operand::reg(is_there)});
}

// How far a shuffle reaches: pieces of the warp, each up to its end or to some lane of it; where the last warp is not
// full, up to its last lane.
Operand range_of_shuffle(Draft& draft, Variant variant) {
  Random& random = draft.random;
  if (variant != Variant::up && !warps_are_full(draft)) {
    const int lanes = draft.make(Op::popc, Type::b32, {Operand::reg(ballot_of_all(draft))});
    return Operand::reg(draft.make(Op::sub, Type::u32, {Operand::reg(lanes), Operand::constant(1)}));
  }
  const unsigned segment = 32 - (1u << random.between(1, 5));
  const unsigned end = variant == Variant::up ? 0 : 31;
  return Operand::constant(segment << 8 | (random.chance(80) ? end : random.below(32)));
}

Instruction shuffle(Draft& draft) {
  Random& random = draft.random;
  Instruction instruction{.op = Op::shuffle, .type = Type::b32, .variant = Variant::idx};
  const Operand value = Operand::reg(draft.register_of(32));
  if (no_lane_is_missing(draft) && random.chance(70)) {
    instruction.variant = random.pick({Variant::up, Variant::down, Variant::bfly, Variant::idx});
    const Operand by = random.chance(70)
                           ? Operand::constant(random.below(32))
                           : Operand::reg(draft.make(Op::bit_and, Type::b32, {draft.word(), Operand::constant(31)}));
    instruction.sources = {value, by, range_of_shuffle(draft, instruction.variant), draft.context.mask};
  } else {
    const int lane = choose_lane(draft, ballot_of_all(draft));
    instruction.sources = {value, Operand::reg(lane), Operand::constant(31), draft.context.mask};
  }
  instruction.results = {draft.register_of(32)};
  if (random.chance(30)) instruction.results.push_back(draft.register_of(1));
  return instruction;
}

Instruction vote(Draft& draft) {
  Instruction instruction{.op = Op::vote,
                          .variant = draft.random.pick({Variant::all, Variant::any, Variant::uni, Variant::ballot})};
  instruction.sources = {Operand::reg(draft.condition()), draft.context.mask};
  instruction.results = {draft.register_of(instruction.variant == Variant::ballot ? 32 : 1)};
  return instruction;
}

Instruction match(Draft& draft) {
  Random& random = draft.random;
  Instruction instruction{.op = Op::match, .type = random.chance(60) ? Type::b32 : Type::b64};
  instruction.variant = random.pick({Variant::any, Variant::all});
  const unsigned bits = bits_of(instruction.type);
  Operand value = Operand::reg(draft.register_of(bits));
  if (random.chance(70))
    value = Operand::reg(draft.make(Op::bit_and, instruction.type, {value, Operand::constant(random.below(8))}));
  instruction.sources = {value, draft.context.mask};
  instruction.results = {draft.register_of(32)};
  if (instruction.variant == Variant::all && random.chance(50)) instruction.results.push_back(draft.register_of(1));
  return instruction;
}

Instruction redux(Draft& draft) {
  Random& random = draft.random;
  Instruction instruction{.op = Op::redux, .type = Type::b32};
  instruction.variant =
      random.pick({Variant::add, Variant::min, Variant::max, Variant::bit_and, Variant::bit_or, Variant::bit_xor});
  if (instruction.variant <= Variant::max) instruction.type = random.chance(50) ? Type::u32 : Type::s32;
  instruction.sources = {Operand::reg(draft.register_of(32)), draft.context.mask};
  instruction.results = {draft.register_of(32)};
  return instruction;
}

Instruction any_operation(Draft& draft) {
  switch (draft.random.below(5)) {
    case 0: return vote(draft);
    case 1: return match(draft);
    case 2: return redux(draft);
    default: return shuffle(draft);
  }
}

void add_warp_barrier(Draft& draft) { draft.emit({.op = Op::warp_sync, .sources = {draft.context.mask}}); }

int own_place(Draft& draft) { return draft.address(draft.exchange, draft.thread, 4); }

void put(Draft& draft, int place) {
  draft.emit({.op = Op::store,
              .type = Type::u32,
              .space = Space::shared,
              .sources = {Operand::reg(place), Operand::reg(draft.register_of(32))}});
}

// What lane `lane` of this warp put.
void get(Draft& draft, int lane) {
  const int first = draft.make(Op::sub, Type::u32, {Operand::reg(draft.thread), Operand::reg(draft.lane)});
  const int thread = draft.make(Op::add, Type::u32, {Operand::reg(first), Operand::reg(lane)});
  draft.emit({.op = Op::load,
              .type = Type::u32,
              .space = Space::shared,
              .results = {draft.register_of(32)},
              .sources = {Operand::reg(draft.address(draft.exchange, thread, 4))}});
}

}  // namespace

void add_warp_operation(Draft& draft) { draft.emit(any_operation(draft)); }

void add_warp_exchange(Draft& draft) {
  const int lane = choose_lane(draft, ballot_of_all(draft));
  put(draft, own_place(draft));
  add_warp_barrier(draft);
  get(draft, lane);
  add_warp_barrier(draft);
}

// Both ways of a branch do the same operation with the same members, at different places of the code.
void add_warp_operation_in_pieces(Draft& draft) {
  Random& random = draft.random;
  const bool exchanges = draft.exchange >= 0 && random.chance(40);
  const int condition = draft.condition();
  const int lane = choose_lane(draft, ballot_of_all(draft));
  const Instruction operation = any_operation(draft);
  const int otherwise = draft.new_label(), end = draft.new_label();
  draft.branch(otherwise, condition, true);
  for (const bool is_other : {false, true}) {
    if (is_other) draft.place(otherwise);
    for (int n = random.between(0, 2); n > 0; --n) add_simple_statement(draft);
    if (exchanges) {
      put(draft, own_place(draft));
      add_warp_barrier(draft);
      get(draft, lane);
    } else {
      draft.emit(operation);
    }
    if (random.chance(50)) add_simple_statement(draft);
    if (!is_other) draft.branch(end);
  }
  draft.place(end);
  if (exchanges) add_warp_barrier(draft);
}

}  // namespace ptx_fuzz
