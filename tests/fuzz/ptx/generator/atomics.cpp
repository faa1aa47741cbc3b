// Atomic operations: on memory of all threads where no order shows, and on the thread's own.
#include "fuzz/ptx/generator/statements.hpp"

namespace ptx_fuzz {
namespace {

// Places in the common memory that this statement alone uses, so that all threads do the same there.
unsigned new_place(Draft& draft) {
  Layout& layout = draft.plan.layout;
  const unsigned place = layout.common_used;
  layout.common_used = (layout.common_used + 8) % layout.common_bytes;
  return place;
}

Instruction on_common(Draft& draft, unsigned place, Variant operation, Type type, std::vector<Operand> operands) {
  Instruction instruction{.op = Op::reduction, .type = type, .variant = operation, .space = Space::global};
  instruction.offset = static_cast<int>(place);
  instruction.sources = {Operand::reg(draft.common)};
  for (const Operand& operand : operands) instruction.sources.push_back(operand);
  return instruction;
}

void add_commutative(Draft& draft) {
  const Variant operation = draft.random.pick(
      {Variant::add, Variant::min, Variant::max, Variant::bit_and, Variant::bit_or, Variant::bit_xor});
  const bool bitwise = operation >= Variant::bit_and && operation <= Variant::bit_xor;
  const unsigned bits = draft.random.pick({32u, 64u});
  const Type type = make_type(bitwise ? 'b' : operation == Variant::add || draft.random.chance(50) ? 'u' : 's', bits);
  Instruction instruction =
      on_common(draft, new_place(draft), operation, type, {Operand::reg(draft.register_of(bits))});
  if (draft.random.chance(40)) {
    instruction.op = Op::atomic;
    instruction.results = {draft.fresh(class_for(bits))};
  }
  draft.emit(std::move(instruction));
}

// A small integer as a floating-point number, of which sums are exact in any order; for a packed type, two of them.
int small_number(Draft& draft, Type type) {
  const int small = draft.make(Op::bit_and, Type::b32, {Operand::reg(draft.register_of(32)), Operand::constant(15)});
  const Type converted = is_packed(type) ? half_of(type) : type;
  const int result = draft.fresh(class_for(bits_of(converted)));
  draft.emit({.op = Op::cvt,
              .type = converted,
              .from = Type::u32,
              .variant = Variant::rn,
              .results = {result},
              .sources = {Operand::reg(small)}});
  if (!is_packed(type)) return result;
  return draft.make(Op::pack, Type::b32, {Operand::reg(result), Operand::reg(result)});
}

void add_float_sum(Draft& draft) {
  const Type type = draft.random.chance(60) ? Type::f32 : Type::f64;
  const int number = small_number(draft, type);
  Instruction instruction = on_common(draft, new_place(draft), Variant::add, type, {Operand::reg(number)});
  if (draft.random.chance(30)) {
    instruction.op = Op::atomic;
    instruction.results = {draft.fresh(class_for(bits_of(type)))};
  }
  draft.emit(std::move(instruction));
}

// Nobody else is there, and so a sum of halves is certain, too.
void add_own_float_sum(Draft& draft) {
  Random& random = draft.random;
  const Type type = random.pick({Type::f32, Type::f64, Type::f16x2, Type::bf16x2});
  const unsigned bits = bits_of(type);
  const bool shared = draft.own_shared >= 0 && (draft.own_global < 0 || random.chance(40));
  const Operand base = Operand::reg(shared ? draft.own_shared : draft.own_global);
  const Space space = shared ? Space::shared : Space::global;
  const int offset = static_cast<int>(8 * random.below(2));
  draft.emit({.op = Op::store,
              .type = make_type('b', bits),
              .space = space,
              .offset = offset,
              .sources = {base, Operand::reg(small_number(draft, type))}});
  const int more = small_number(draft, type);
  draft.emit({.op = Op::atomic,
              .type = type,
              .variant = Variant::add,
              .space = space,
              .offset = offset,
              .results = {draft.register_of(bits)},
              .sources = {base, Operand::reg(more)}});
}

// The threads of a warp that happen to be together draw their numbers at once. Who they are depends on the machine;
// which numbers are drawn by somebody does not.
void add_aggregated_ticket(Draft& draft) {
  const auto word = [&](Op op, Operand a, Operand b) { return draft.make(op, Type::b32, {a, b}); };
  const int active = draft.fresh(RegisterClass::word);
  draft.emit({.op = Op::activemask, .type = Type::b32, .results = {active}});
  const int reversed = draft.make(Op::brev, Type::b32, {Operand::reg(active)});
  const int leader = draft.make(Op::clz, Type::b32, {Operand::reg(reversed)});
  const int one = draft.make(Op::mov, Type::b32, {Operand::constant(1)});
  const int bit = word(Op::shl, Operand::reg(one), Operand::reg(draft.lane));
  const int below = draft.make(Op::sub, Type::u32, {Operand::reg(bit), Operand::constant(1)});
  const int before = word(Op::bit_and, Operand::reg(active), Operand::reg(below));
  const int rank = draft.make(Op::popc, Type::b32, {Operand::reg(before)});
  const int count = draft.make(Op::popc, Type::b32, {Operand::reg(active)});
  const int leads = draft.compare(Variant::eq, Type::u32, Operand::reg(draft.lane), Operand::reg(leader));
  const int first = draft.make(Op::mov, Type::b32, {Operand::constant(0)});
  Instruction draw = on_common(draft, new_place(draft), Variant::add, Type::u32, {Operand::reg(count)});
  draw.op = Op::atomic;
  draw.results = {first};
  draw.guard = leads;
  draft.emit(std::move(draw));
  draft.emit({.op = Op::shuffle,
              .type = Type::b32,
              .variant = Variant::idx,
              .results = {first},
              .sources = {Operand::reg(first), Operand::reg(leader), Operand::constant(31), Operand::reg(active)}});
  const int ticket = draft.make(Op::add, Type::u32, {Operand::reg(first), Operand::reg(rank)});
  const int squared = draft.make(Op::mul_lo, Type::u32, {Operand::reg(ticket), Operand::reg(ticket)});
  draft.emit(on_common(draft, new_place(draft), Variant::add, Type::u32, {Operand::reg(squared)}));
}

// Each thread draws a number; which one depends on the order, the sum of what they make of them does not.
void add_ticket(Draft& draft) {
  Instruction draw = on_common(draft, new_place(draft), Variant::add, Type::u32, {Operand::constant(1)});
  draw.op = Op::atomic;
  const int ticket = draft.fresh(RegisterClass::word);
  draw.results = {ticket};
  draft.emit(std::move(draw));
  const int scaled = draft.make(Op::mul_lo, Type::u32, {Operand::reg(ticket), Operand::reg(ticket)});
  const int divided =
      draft.make(Op::div, Type::u32, {Operand::reg(scaled), Operand::constant(1 + draft.random.below(5))});
  draft.emit(on_common(draft, new_place(draft), Variant::add, Type::u32, {Operand::reg(divided)}));
}

// Retries until nobody came between, and uses what was there before.
void add_retried(Draft& draft) {
  const unsigned place = new_place(draft);
  const unsigned bits = draft.random.pick({32u, 64u});
  const Type raw = make_type('b', bits), number = make_type('u', bits);
  const int old = draft.fresh(class_for(bits)), found = draft.fresh(class_for(bits));
  Instruction first = on_common(draft, place, Variant::bit_or, raw, {Operand::constant(0)});
  first.op = Op::atomic;
  first.results = {old};
  draft.emit(std::move(first));
  const int again = draft.new_label();
  draft.place(again);
  const int sum = draft.make(Op::add, number, {Operand::reg(old), Operand::constant(1 + draft.random.below(9))});
  Instruction exchange = on_common(draft, place, Variant::cas, raw, {Operand::reg(old), Operand::reg(sum)});
  exchange.op = Op::atomic;
  exchange.results = {found};
  draft.emit(std::move(exchange));
  const int failed = draft.compare(Variant::ne, number, Operand::reg(found), Operand::reg(old));
  draft.make(Op::mov, raw, {Operand::reg(found)}, old);
  draft.branch(again, failed);
  int used = draft.make(Op::mul_lo, number, {Operand::reg(old), Operand::reg(old)});
  if (draft.random.chance(50)) used = draft.make(Op::div, number, {Operand::reg(used), Operand::constant(3)});
  draft.emit(on_common(draft, new_place(draft), Variant::add, number, {Operand::reg(used)}));
}

// Nobody else is there: every result is certain.
void add_own(Draft& draft) {
  Random& random = draft.random;
  const Variant operation =
      random.pick({Variant::add, Variant::min, Variant::max, Variant::inc, Variant::dec, Variant::bit_and,
                   Variant::bit_or, Variant::bit_xor, Variant::exch, Variant::cas});
  const bool raw = operation >= Variant::bit_and;
  const unsigned bits = operation == Variant::inc || operation == Variant::dec ? 32 : random.pick({32u, 64u});
  const char kind = raw                                                                             ? 'b'
                    : (operation == Variant::min || operation == Variant::max) && random.chance(50) ? 's'
                                                                                                    : 'u';
  Instruction instruction{.op = Op::atomic, .type = make_type(kind, bits), .variant = operation};
  const bool shared = draft.own_shared >= 0 && (draft.own_global < 0 || random.chance(40));
  instruction.space = shared ? Space::shared : Space::global;
  instruction.offset = static_cast<int>(8 * random.below(2));
  instruction.results = {draft.register_of(bits)};
  instruction.sources = {Operand::reg(shared ? draft.own_shared : draft.own_global)};
  for (int i = 0; i < (operation == Variant::cas ? 2 : 1); ++i)
    instruction.sources.push_back(Operand::reg(draft.register_of(bits)));
  draft.emit(std::move(instruction));
}

}  // namespace

void add_atomic(Draft& draft) {
  const bool has_own = draft.own_global >= 0 || draft.own_shared >= 0;
  const bool has_common = draft.common >= 0;
  if (!has_own && !has_common) return add_integer(draft);
  if (!has_common || (has_own && draft.random.chance(40)))
    return draft.random.chance(20) ? add_own_float_sum(draft) : add_own(draft);
  switch (draft.random.below(draft.plan.features.warps ? 5 : 4)) {
    case 0: return add_commutative(draft);
    case 1: return add_ticket(draft);
    case 2: return add_float_sum(draft);
    case 3: return add_retried(draft);
    default: return add_aggregated_ticket(draft);
  }
}

}  // namespace ptx_fuzz
