// Device functions and their calls.
#include "fuzz/ptx/generator/prologue.hpp"
#include "fuzz/ptx/generator/statements.hpp"
#include "fuzz/ptx/generator/unneeded.hpp"

namespace ptx_fuzz {
namespace {

// 16 bytes of this thread's own: local memory if there is some, so that its address goes to another function.
int own_pointer(Draft& draft) {
  const int result = draft.fresh(RegisterClass::address);
  int base = draft.own_global;
  Space space = Space::global;
  if (draft.local >= 0 && draft.random.chance(60))
    base = draft.local, space = Space::local;
  else if (draft.own_shared >= 0 && draft.random.chance(50))
    base = draft.own_shared, space = Space::shared;
  if (base < 0) return draft.pointer;
  draft.emit({.op = Op::to_generic, .space = space, .results = {result}, .sources = {Operand::reg(base)}});
  return result;
}

// The order of parameters: words a and b, a wide c, a pointer, how deep it may call itself, the mask of the warp.
std::vector<Operand> arguments(Draft& draft, Operand depth) {
  return {Operand::reg(draft.register_of(32)), draft.word(), Operand::reg(draft.register_of(64)),
          Operand::reg(own_pointer(draft)),    depth,        draft.context.mask};
}

void add_recursion(Draft& draft, int depth) {
  const int is_last = draft.compare(Variant::eq, Type::u32, Operand::reg(depth), Operand::constant(0));
  const int skip = draft.new_label();
  draft.branch(skip, is_last);
  const int less = draft.make(Op::sub, Type::u32, {Operand::reg(depth), Operand::constant(1)});
  draft.emit({.op = Op::call,
              .target = static_cast<int>(draft.index()),
              .results = {draft.register_of(32)},
              .sources = arguments(draft, Operand::reg(less))});
  draft.place(skip);
}

Together choose_together(const Features& features, Random& random) {
  if (features.barriers && random.chance(35)) return Together::block;
  if (features.warps && random.chance(45)) return Together::warp;
  return Together::nobody;
}

}  // namespace

void add_function(Program& program, Plan& plan, Random& random) {
  const std::size_t index = program.functions.size();
  Function& function = program.functions.emplace_back();
  function.name = "f" + std::to_string(index);
  Draft draft(program, plan, index, random);
  const int a = draft.fresh(RegisterClass::word), b = draft.fresh(RegisterClass::word),
            c = draft.fresh(RegisterClass::wide);
  draft.pointer = draft.fresh(RegisterClass::address);
  const int depth = draft.fresh(RegisterClass::word), mask = draft.fresh(RegisterClass::word);
  function.parameters = {a, b, c, draft.pointer, depth, mask};
  function.result = a;
  draft.context.together = choose_together(plan.features, random);
  draft.context.depth = 1;
  if (draft.context.together == Together::warp) draft.context.mask = Operand::reg(mask);
  add_prologue(draft, {a, b}, c);
  draft.budget = random.between(1, 8);
  const bool waits = draft.context.together != Together::nobody || plan.features.exits;
  const bool recursive = random.chance(20) && (plan.features.recursion || !waits);
  const bool before = random.chance(50);
  if (recursive && before) add_recursion(draft, depth);
  add_statements(draft, 4);
  if (draft.context.together == Together::nobody && random.chance(40)) {
    draft.emit({.op = Op::ret, .guard = draft.condition()});
    draft.budget += 5;
    add_statements(draft, 2);
  }
  if (recursive && !before) add_recursion(draft, depth);
  draft.make(Op::mad_lo, Type::u32,
             {Operand::reg(draft.register_of(32)), Operand::constant(5), Operand::reg(draft.register_of(32))}, a);
  draft.emit({.op = Op::ret});
  remove_unneeded(draft);
  plan.callees.push_back({static_cast<int>(index), draft.context.together});
}

void add_call(Draft& draft) {
  std::vector<int> possible;
  for (const Callee& callee : draft.plan.callees)
    if (callee.together >= draft.context.together) possible.push_back(callee.function);
  if (possible.empty()) return add_integer(draft);
  add_call_of(draft, draft.random.pick(possible));
}

void add_call_of(Draft& draft, int function) {
  draft.emit({.op = Op::call,
              .target = function,
              .results = {draft.register_of(32)},
              .sources = arguments(draft, Operand::constant(draft.random.below(4)))});
}

}  // namespace ptx_fuzz
