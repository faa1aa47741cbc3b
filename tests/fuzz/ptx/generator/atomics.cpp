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
  if (!has_common || (has_own && draft.random.chance(40))) return add_own(draft);
  switch (draft.random.below(3)) {
    case 0: return add_commutative(draft);
    case 1: return add_ticket(draft);
    default: return add_retried(draft);
  }
}

}  // namespace ptx_fuzz
