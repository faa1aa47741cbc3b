#include "fuzz/ptx/generator/generator.hpp"

#include <cstring>

#include "fuzz/ptx/generator/prologue.hpp"
#include "fuzz/ptx/generator/statements.hpp"
#include "fuzz/ptx/generator/unneeded.hpp"

namespace ptx_fuzz {
namespace {

constexpr int kDeepest = 4;

struct Statement {
  void (*add)(Draft&);
  unsigned weight;
  bool (*possible)(const Draft&);
};

bool may_nest(const Draft& draft) { return draft.context.depth < kDeepest && draft.plan.features.loops; }
bool is_block(const Draft& draft) { return draft.context.together == Together::block; }
bool is_group(const Draft& draft) { return draft.context.together != Together::nobody; }
bool may_exchange(const Draft& draft) { return is_block(draft) && draft.plan.features.barriers && draft.exchange >= 0; }
// Threads that have ended signal nothing, and a signal is given once.
bool may_signal(const Draft& draft) {
  return may_exchange(draft) && draft.plan.features.signals && !draft.plan.features.exits && draft.is_kernel() &&
         draft.context.depth == 0 && draft.shared_common >= 0;
}
bool may_ask_warp(const Draft& draft) { return is_group(draft) && draft.plan.features.warps; }

constexpr Statement kStatements[] = {
    {add_simple_statement, 40, [](const Draft&) { return true; }},
    {add_uniform, 4, is_block},
    {add_if, 14, may_nest},
    {add_switch, 5, may_nest},
    {add_loop, 12, may_nest},
    {add_endless_loop, 8, may_nest},
    {add_masked_loop, 6, [](const Draft& d) { return may_nest(d) && may_ask_warp(d); }},
    {add_jump_out, 12, [](const Draft& d) { return !d.context.loops.empty(); }},
    {add_exit, 3, [](const Draft& d) { return d.plan.features.exits; }},
    {add_gotos, 10, [](const Draft& d) { return d.context.depth < kDeepest && d.plan.features.gotos; }},
    {add_exchange, 10, may_exchange},
    {add_barrier_reduction, 6, [](const Draft& d) { return is_block(d) && d.plan.features.barriers; }},
    {add_barrier_in_pieces, 6, [](const Draft& d) { return may_exchange(d) && d.plan.features.pieces; }},
    {add_named_barriers, 4, may_exchange},
    {add_total, 5, [](const Draft& d) { return may_exchange(d) && d.plan.features.atomics && d.shared_common >= 0; }},
    {add_signal, 25, may_signal},
    {add_warp_operation, 16, may_ask_warp},
    {add_warp_exchange, 6, [](const Draft& d) { return may_ask_warp(d) && d.exchange >= 0; }},
    {add_warp_operation_in_pieces, 6, [](const Draft& d) { return may_ask_warp(d) && d.plan.features.pieces; }},
    {add_call, 8, [](const Draft& d) { return !d.plan.callees.empty(); }},
};

// For rows that are no multiple of a gang's width there is a second gang to compile, which runs their ends.
Extent choose_block(Random& random) {
  constexpr Extent kWholeWarps[] = {{32, 1, 1}, {64, 1, 1}, {96, 1, 1}, {128, 1, 1},
                                    {32, 2, 1}, {64, 2, 1}, {32, 1, 3}};
  constexpr Extent kOthers[] = {{1, 1, 1}, {5, 1, 1}, {31, 1, 1}, {33, 1, 1}, {37, 1, 1}, {48, 1, 1}, {100, 1, 1},
                                {5, 7, 1}, {7, 9, 1}, {16, 4, 1}, {3, 3, 3},  {8, 3, 2},  {4, 4, 4}};
  return random.chance(55) ? random.pick(kWholeWarps) : random.pick(kOthers);
}

// Each program has some of the features: what never meets all the others at once is found, too.
Features choose_features(Random& random, const Features& allowed) {
  const auto some = [&](bool is_allowed, unsigned percent) { return random.chance(percent) && is_allowed; };
  Features chosen;
  chosen.loops = some(allowed.loops, 80);
  chosen.gotos = some(allowed.gotos, 50);
  chosen.memory = some(allowed.memory, 60);
  chosen.floats = some(allowed.floats, 30);
  chosen.atomics = some(allowed.atomics, 30);
  chosen.barriers = some(allowed.barriers, 40);
  chosen.warps = some(allowed.warps, 40);
  chosen.pieces = some(allowed.pieces, 40);
  chosen.exits = some(allowed.exits, 25);
  chosen.calls = some(allowed.calls, 16);
  chosen.signals = some(allowed.signals, 50);
  chosen.recursion = some(allowed.recursion, 50);
  return chosen;
}

// Most are small, so that many are tried; some are as large as anything that takes a large program.
int choose_size(Random& random) {
  if (random.chance(82)) return random.between(1, 6);
  return random.chance(80) ? random.between(7, 18) : random.between(18, 50);
}

void lay_out(Program& program, Plan& plan, Random& random) {
  const unsigned threads = program.threads();
  Layout& layout = plan.layout;
  layout.results = 0;
  layout.own = layout.results + result_bytes() * threads;
  layout.input = layout.own + layout.own_bytes * threads;
  layout.common = layout.input + layout.input_bytes;
  program.memory.resize(layout.common + layout.common_bytes);
  for (std::size_t i = layout.own; i < layout.common; ++i) program.memory[i] = static_cast<std::uint8_t>(random.bits());
  plan.uses_shared = plan.features.barriers || (plan.features.memory && random.chance(40)) ||
                     (plan.features.warps && plan.features.pieces);
  if (!plan.uses_shared) return;
  plan.shared.exchange = SharedLayout::kOwnBytes * program.block.count();
  plan.shared.common = (plan.shared.exchange + 4 * program.block.count() + 15) / 16 * 16;
  program.shared_bytes = plan.shared.common + SharedLayout::kCommonBytes;
}

}  // namespace

void add_simple_statement(Draft& draft) {
  Random& random = draft.random;
  const Features& features = draft.plan.features;
  if (features.memory && random.chance(25)) return add_access(draft);
  if (features.floats && random.chance(25)) return random.chance(30) ? add_packed(draft) : add_float(draft);
  if (features.atomics && random.chance(20)) return add_atomic(draft);
  if (random.chance(12)) return add_predicate(draft);
  if (random.chance(7)) return add_carry_chain(draft);
  add_integer(draft);
}

void add_statements(Draft& draft, int most) {
  for (int left = draft.random.between(1, most); left > 0 && draft.budget > 0; --left) {
    unsigned total = 0;
    for (const Statement& statement : kStatements)
      if (statement.possible(draft)) total += statement.weight;
    unsigned chosen = draft.random.below(total);
    for (const Statement& statement : kStatements) {
      if (!statement.possible(draft)) continue;
      if (chosen < statement.weight) {
        statement.add(draft);
        break;
      }
      chosen -= statement.weight;
    }
  }
}

Program generate(std::uint64_t seed, unsigned attempt, const Features& allowed) {
  Random random(seed * 1000003 + attempt);
  random.bits();
  Program program;
  program.seed = seed;
  program.block = choose_block(random);
  program.blocks = 1 + random.below(2);
  for (std::uint32_t& parameter : program.parameters)
    parameter = random.chance(70) ? random.below(20) : static_cast<std::uint32_t>(random.bits());
  Plan plan;
  plan.features = choose_features(random, allowed);
  lay_out(program, plan, random);
  program.functions.emplace_back().name = "fuzz";
  if (plan.features.calls)
    for (int n = random.chance(70) ? 1 : 2; n > 0; --n) add_function(program, plan, random);
  Draft draft(program, plan, 0, random);
  add_prologue(draft, {}, -1);
  draft.budget = choose_size(random);
  // ptxas crashes when it finds out that all calls of a recursive function are unreachable.
  for (const Callee& callee : plan.callees) add_call_of(draft, callee.function);
  while (draft.budget > 0) add_statements(draft, 4);
  add_epilogue(draft);
  remove_unneeded(draft);
  return program;
}

}  // namespace ptx_fuzz
