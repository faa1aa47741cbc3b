// Statements that read and write memory of the thread's own, or read memory that nobody writes.
#include <algorithm>

#include "fuzz/ptx/generator/statements.hpp"

namespace ptx_fuzz {
namespace {

struct Piece {
  int base;  // address register
  Space space;
  unsigned bytes;
  bool writable;
};

std::vector<Piece> pieces(const Draft& draft) {
  std::vector<Piece> found;
  if (draft.own_global >= 0) found.push_back({draft.own_global, Space::global, draft.plan.layout.own_bytes, true});
  if (draft.own_shared >= 0) found.push_back({draft.own_shared, Space::shared, SharedLayout::kOwnBytes, true});
  if (draft.local >= 0) found.push_back({draft.local, Space::local, 32, true});
  if (draft.pointer >= 0) found.push_back({draft.pointer, Space::generic, 16, true});
  if (draft.input >= 0) found.push_back({draft.input, Space::global, draft.plan.layout.input_bytes, false});
  return found;
}

// A place in the piece for elements of this size, known now or computed by each thread.
int choose_place(Draft& draft, const Piece& piece, unsigned size, int& offset) {
  const unsigned places = piece.bytes / size;
  if (draft.random.chance(40)) {
    offset = static_cast<int>(draft.random.below(places) * size);
    return piece.base;
  }
  const Operand subject =
      draft.random.chance(50) ? Operand::reg(draft.random.pick(draft.read_only)) : Operand::reg(draft.register_of(32));
  const int index = draft.make(Op::bit_and, Type::b32, {subject, Operand::constant(places - 1)});
  return draft.address(piece.base, index, size);
}

}  // namespace

void add_access(Draft& draft) {
  Random& random = draft.random;
  const std::vector<Piece> all = pieces(draft);
  if (all.empty()) return add_integer(draft);
  const Piece& piece = random.pick(all);
  const Type type =
      random.pick({Type::u8, Type::s8, Type::u16, Type::s16, Type::u32, Type::s32, Type::b32, Type::u64, Type::b64});
  const unsigned size = bytes_of(type);
  const unsigned width = size == 1 ? random.pick({16u, 32u, 64u}) : size == 2 ? random.pick({16u, 32u}) : 8 * size;
  const unsigned count =
      piece.bytes >= 4 * size && random.chance(15) ? random.pick({2u, 2u, std::min(4u, 16u / size)}) : 1;
  Instruction access{
      .op = piece.writable && random.chance(50) ? Op::store : Op::load, .type = type, .space = piece.space};
  access.sources = {Operand::reg(choose_place(draft, piece, count * size, access.offset))};
  for (unsigned i = 0; i < count; ++i) {
    if (access.op == Op::store) {
      access.sources.push_back(Operand::reg(draft.register_of(width)));
      continue;
    }
    int result = draft.register_of(width);  // each element needs a register of its own
    for (const int other : access.results)
      if (other == result) result = draft.fresh(class_for(width));
    access.results.push_back(result);
  }
  if (random.chance(15)) {
    access.guard = draft.register_of(1);
    access.guard_negated = random.chance(50);
  }
  draft.emit(std::move(access));
}

}  // namespace ptx_fuzz
