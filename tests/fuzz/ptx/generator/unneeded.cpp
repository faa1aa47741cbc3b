#include "fuzz/ptx/generator/unneeded.hpp"

#include <algorithm>
#include <set>

namespace ptx_fuzz {
namespace {

void add_reads(const Instruction& instruction, std::set<int>& read) {
  if (instruction.guard >= 0) read.insert(instruction.guard);
  for (const Operand& source : instruction.sources)
    if (source.kind == Operand::Kind::reg) read.insert(static_cast<int>(source.value));
}

// What its statements read, prologue aside.
std::set<int> read_by_statements(Draft& draft) {
  std::set<int> read;
  const std::vector<Instruction>& body = draft.function().body;
  for (std::size_t i = draft.statements_begin; i < body.size(); ++i) add_reads(body[i], read);
  return read;
}

void remove_from_prologue(Draft& draft, auto&& is_unneeded) {
  std::vector<Instruction>& body = draft.function().body;
  const auto begin = body.begin(), end = begin + static_cast<std::ptrdiff_t>(draft.statements_begin);
  const auto kept = std::remove_if(begin, end, is_unneeded);
  draft.statements_begin = static_cast<std::size_t>(kept - begin);
  body.erase(kept, end);
}

bool is_store_to(const Instruction& instruction, int address) {
  return address >= 0 && instruction.op == Op::store &&
         instruction.sources[0].value == static_cast<std::uint64_t>(address);
}

void remove_unneeded_shared(Draft& draft) {
  const SharedUse& used = draft.plan.shared_use;
  remove_from_prologue(draft, [&](const Instruction& instruction) {
    return (!used.own && is_store_to(instruction, draft.own_shared)) ||
           (!used.exchange && is_store_to(instruction, draft.exchange_slot)) ||
           (!used.common && is_store_to(instruction, draft.shared_common)) ||
           (!used.exchange && !used.common && instruction.op == Op::barrier_sync);
  });
}

bool only_computes(const Instruction& instruction) {
  return instruction.op <= Op::load && !touches_carry(instruction.op);
}

void remove_unread_values(Function& function) {
  for (;;) {
    std::set<int> read = {function.result};
    for (const Instruction& instruction : function.body) add_reads(instruction, read);
    const auto is_unread = [&](const Instruction& instruction) {
      return only_computes(instruction) && std::none_of(instruction.results.begin(), instruction.results.end(),
                                                        [&](int result) { return read.contains(result); });
    };
    if (std::erase_if(function.body, is_unread) == 0) return;
  }
}

}  // namespace

void remove_unneeded(Draft& draft) {
  const std::set<int> read = read_by_statements(draft);
  SharedUse& used = draft.plan.shared_use;
  used.own |= read.contains(draft.own_shared);
  used.exchange |= read.contains(draft.exchange);
  used.common |= read.contains(draft.shared_common);
  if (draft.is_kernel()) remove_unneeded_shared(draft);
  if (!read.contains(draft.local))
    remove_from_prologue(draft, [&](const Instruction& store) { return is_store_to(store, draft.local); });
  remove_unread_values(draft.function());
  if (!read.contains(draft.local)) draft.function().local_bytes = 0;
}

}  // namespace ptx_fuzz
