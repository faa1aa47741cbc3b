// Threads that wait in a loop for what another thread of the block writes.
#include "fuzz/ptx/generator/statements.hpp"

namespace ptx_fuzz {
namespace {

Instruction shared_access(Draft& draft, Op op, int place, Variant variant) {
  return {.op = op,
          .type = Type::u32,
          .variant = variant,
          .space = Space::shared,
          .offset = place,
          .sources = {Operand::reg(draft.shared_common)}};
}

// Writes the value, then the flag, so that who sees the flag sees the value.
void give(Draft& draft, int place) {
  Instruction value = shared_access(draft, Op::store, place, Variant::none);
  value.sources.push_back(Operand::reg(draft.register_of(32)));
  draft.emit(std::move(value));
  const Variant how = draft.random.pick({Variant::unsteady, Variant::relaxed, Variant::release});
  if (how != Variant::release) draft.emit({.op = Op::fence});
  Instruction flag = shared_access(draft, Op::store, place + 4, how);
  flag.sources.push_back(Operand::constant(1));
  draft.emit(std::move(flag));
}

void take(Draft& draft, int place) {
  const int again = draft.new_label(), seen = draft.fresh(RegisterClass::word);
  draft.place(again);
  const Variant how = draft.random.pick({Variant::unsteady, Variant::relaxed, Variant::acquire, Variant::bit_or});
  Instruction look = shared_access(draft, how == Variant::bit_or ? Op::atomic : Op::load, place + 4, how);
  if (how == Variant::bit_or) {
    look.type = Type::b32;
    look.sources.push_back(Operand::constant(0));
  }
  look.results = {seen};
  draft.emit(std::move(look));
  const int is_missing = draft.compare(Variant::eq, Type::u32, Operand::reg(seen), Operand::constant(0));
  draft.branch(again, is_missing);
  draft.emit({.op = Op::fence});
  Instruction value = shared_access(draft, Op::load, place, Variant::none);
  value.results = {draft.register_of(32)};
  draft.emit(std::move(value));
}

}  // namespace

void add_signal(Draft& draft) {
  SharedLayout& layout = draft.plan.shared;
  if (layout.common_used == SharedLayout::kCommonBytes) return add_exchange(draft);
  const int place = static_cast<int>(layout.common_used);
  layout.common_used += 8;
  const Operand giver = Operand::constant(draft.random.below(draft.program.block.count()));
  const int gives = draft.compare(Variant::eq, Type::u32, Operand::reg(draft.thread), giver);
  const int wait = draft.new_label(), end = draft.new_label();
  draft.branch(wait, gives, true);
  if (draft.random.chance(50)) add_simple_statement(draft);
  give(draft, place);
  draft.branch(end);
  draft.place(wait);
  if (draft.random.chance(30)) {  // only some look
    const int looks = draft.condition();
    draft.branch(end, looks, true);
  }
  take(draft, place);
  draft.place(end);
}

}  // namespace ptx_fuzz
