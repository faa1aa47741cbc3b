#include "fuzz/ptx/generator/prologue.hpp"

#include <set>

namespace ptx_fuzz {
namespace {

constexpr std::size_t kHalves = 2, kWords = 4, kWides = 2, kPredicates = 2;

int read_special(Draft& draft, Special which) { return draft.make(Op::mov, Type::u32, {Operand::special(which)}); }

int address_of(Draft& draft, Space space) {
  const int result = draft.fresh(RegisterClass::address);
  draft.emit({.op = Op::address_of, .space = space, .results = {result}});
  return result;
}

int moved(Draft& draft, int base, unsigned bytes) {
  if (bytes == 0) return base;
  const int result = draft.fresh(RegisterClass::address);
  draft.emit({.op = Op::add,
              .type = Type::u64,
              .results = {result},
              .sources = {Operand::reg(base), Operand::constant(bytes)}});
  return result;
}

// The thread's place in its block, x fastest.
int thread_in_block(Draft& draft) {
  const Extent& block = draft.program.block;
  const int x = read_special(draft, Special::tid_x);
  if (block.y == 1 && block.z == 1) return x;
  const int y = read_special(draft, Special::tid_y), z = read_special(draft, Special::tid_z);
  const int height = read_special(draft, Special::ntid_y), width = read_special(draft, Special::ntid_x);
  const int row = draft.make(Op::mad_lo, Type::u32, {Operand::reg(z), Operand::reg(height), Operand::reg(y)});
  const int thread = draft.make(Op::mad_lo, Type::u32, {Operand::reg(row), Operand::reg(width), Operand::reg(x)});
  draft.read_only.push_back(x);
  draft.read_only.push_back(y);
  return thread;
}

void add_shared_addresses(Draft& draft) {
  const SharedLayout& layout = draft.plan.shared;
  const int base = address_of(draft, Space::shared);
  draft.own_shared = draft.address(moved(draft, base, layout.own), draft.thread, SharedLayout::kOwnBytes);
  draft.exchange = moved(draft, base, layout.exchange);
  if (draft.plan.features.barriers) draft.shared_common = moved(draft, base, layout.common);
}

void add_global_addresses(Draft& draft, int thread_in_grid) {
  const Layout& layout = draft.plan.layout;
  const int base = address_of(draft, Space::global);
  draft.own_global = draft.address(moved(draft, base, layout.own), thread_in_grid, layout.own_bytes);
  draft.input = moved(draft, base, layout.input);
  draft.common = moved(draft, base, layout.common);
}

// Own shared memory starts as zeros; nobody may read another's before all have done so.
void clear_shared(Draft& draft) {
  const Operand zero = Operand::constant(0);
  for (const int offset : {0, 8})
    draft.emit({.op = Op::store,
                .type = Type::u64,
                .space = Space::shared,
                .offset = offset,
                .sources = {Operand::reg(draft.own_shared), zero}});
  draft.exchange_slot = draft.address(draft.exchange, draft.thread, 4);
  draft.emit({.op = Op::store,
              .type = Type::u32,
              .space = Space::shared,
              .sources = {Operand::reg(draft.exchange_slot), zero}});
  if (draft.shared_common >= 0) {
    const int is_first = draft.compare(Variant::eq, Type::u32, Operand::reg(draft.thread), zero);
    for (unsigned i = 0; i < SharedLayout::kCommonBytes; i += 8)
      draft.emit({.op = Op::store,
                  .type = Type::u64,
                  .space = Space::shared,
                  .offset = static_cast<int>(i),
                  .guard = is_first,
                  .sources = {Operand::reg(draft.shared_common), zero}});
  }
  if (draft.plan.features.barriers) draft.emit({.op = Op::barrier_sync, .sources = {zero, zero}});
}

void fill_local(Draft& draft) {
  draft.function().local_bytes = 32;
  draft.local = address_of(draft, Space::local);
  for (unsigned i = 0; i < 4; ++i)
    draft.emit({.op = Op::store,
                .type = Type::u64,
                .space = Space::local,
                .offset = static_cast<int>(8 * i),
                .sources = {Operand::reg(draft.local), Operand::reg(draft.wides[i % draft.wides.size()])}});
}

// More words, each made of an earlier one, then the other sizes of them.
void fill_pools(Draft& draft, int wide) {
  Random& random = draft.random;
  while (draft.words.size() < kWords) {
    const Operand earlier = Operand::reg(random.chance(50) ? random.pick(draft.read_only) : draft.register_of(32));
    draft.words.push_back(
        draft.make(Op::mad_lo, Type::u32,
                   {earlier, Operand::constant(draft.constant(32)), Operand::constant(draft.constant(32))}));
  }
  if (wide >= 0) draft.wides.push_back(wide);
  while (draft.wides.size() < kWides) {
    const int result = draft.fresh(RegisterClass::wide);
    draft.emit({.op = Op::mul_wide,
                .type = random.chance(50) ? Type::u32 : Type::s32,
                .results = {result},
                .sources = {Operand::reg(draft.register_of(32)), Operand::constant(draft.constant(32))}});
    draft.wides.push_back(result);
  }
  while (draft.halves.size() < kHalves) {
    const int result = draft.fresh(RegisterClass::half);
    draft.emit({.op = Op::cvt,
                .type = Type::u16,
                .from = Type::u32,
                .results = {result},
                .sources = {Operand::reg(draft.register_of(32))}});
    draft.halves.push_back(result);
  }
  while (draft.predicates.size() < kPredicates)
    draft.predicates.push_back(draft.compare(Variant::lt, Type::s32, Operand::reg(draft.register_of(32)),
                                             Operand::constant(random.below(40))));
}

}  // namespace

void add_prologue(Draft& draft, const std::vector<int>& words, int wide) {
  Random& random = draft.random;
  draft.thread = thread_in_block(draft);
  draft.lane = read_special(draft, Special::laneid);
  draft.read_only.push_back(draft.thread);
  draft.read_only.push_back(draft.lane);
  const int block = read_special(draft, Special::ctaid_x);
  const Special given = draft.is_kernel() ? Special::parameter0 : Special::nctaid_x;
  draft.uniforms = {read_special(draft, given),
                    draft.make(Op::add, Type::u32, {Operand::reg(block), Operand::constant(random.below(9))})};
  draft.words = words;
  if (draft.plan.uses_shared) add_shared_addresses(draft);
  if (draft.is_kernel()) {
    const int size = draft.make(Op::mov, Type::u32, {Operand::constant(draft.program.block.count())});
    const int in_grid =
        draft.make(Op::mad_lo, Type::u32, {Operand::reg(block), Operand::reg(size), Operand::reg(draft.thread)});
    draft.in_grid = in_grid;
    draft.read_only.push_back(in_grid);
    add_global_addresses(draft, in_grid);
    if (draft.plan.uses_shared) clear_shared(draft);
    draft.words.push_back(read_special(draft, Special::parameter1));
    const int index = draft.make(Op::bit_and, Type::b32,
                                 {Operand::reg(in_grid), Operand::constant(draft.plan.layout.input_bytes / 4 - 1)});
    const int input = draft.fresh(RegisterClass::word);
    draft.emit({.op = Op::load,
                .type = Type::u32,
                .space = Space::global,
                .results = {input},
                .sources = {Operand::reg(draft.address(draft.input, index, 4))}});
    draft.words.push_back(input);
  }
  fill_pools(draft, wide);
  if (draft.plan.features.memory && random.chance(50)) fill_local(draft);
  draft.statements_begin = draft.function().body.size();
}

unsigned result_bytes() { return 8 * (kWords + kWides + kHalves + kPredicates + 2); }

void add_epilogue(Draft& draft) {
  std::set<int> changed = {draft.words.front()};
  for (std::size_t i = draft.statements_begin; i < draft.function().body.size(); ++i) {
    const std::vector<int>& results = draft.function().body[i].results;
    changed.insert(results.begin(), results.end());
  }
  const unsigned threads = draft.program.threads();
  const int base = address_of(draft, Space::global);
  int places[9] = {};  // by the element's size: where this thread's first result is
  for (const unsigned size : {2u, 4u, 8u}) places[size] = draft.address(base, draft.in_grid, size);
  unsigned offset = draft.plan.layout.results;
  const auto leave = [&](Type type, int number) {
    if (changed.contains(number)) {
      if (type == Type::pred) {
        type = Type::b32;
        number = draft.make(Op::selp, type, {Operand::constant(1), Operand::constant(0), Operand::reg(number)});
      }
      draft.emit({.op = Op::store,
                  .type = type,
                  .space = Space::global,
                  .offset = static_cast<int>(offset),
                  .sources = {Operand::reg(places[bytes_of(type)]), Operand::reg(number)}});
    }
    offset += 8 * threads;
  };
  for (const int number : draft.words) leave(Type::b32, number);
  for (const int number : draft.wides) leave(Type::b64, number);
  for (const int number : draft.halves) leave(Type::b16, number);
  for (const int number : draft.uniforms) leave(Type::b32, number);
  for (const int number : draft.predicates) leave(Type::pred, number);
  draft.emit({.op = Op::ret});
}

}  // namespace ptx_fuzz
