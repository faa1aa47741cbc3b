#include "softgpu/simt/spin_loops.hpp"

#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "softgpu/simt/counting.hpp"
#include "softgpu/simt/marks.hpp"
#include "softgpu/simt/same_place.hpp"

namespace softgpu::simt {

using namespace llvm;

namespace {

// Rounds that a loop may take before others get their turn: so many that it costs nothing.
constexpr std::uint32_t kLongLoop = 4096;

template <typename Found>
bool any_instruction(const Loop& loop, Found found) {
  return any_of(loop.blocks(), [&](const BasicBlock* block) { return any_of(*block, found); });
}

// Whether the value comes, in the loop, from what the instruction gave.
bool comes_from(const Value& value, const Instruction& source, const Loop& loop) {
  SmallPtrSet<const Value*, 8> seen;
  SmallVector<const Value*, 8> work{&value};
  while (!work.empty()) {
    const auto* instruction = dyn_cast<Instruction>(work.pop_back_val());
    if (!instruction || !loop.contains(instruction) || !seen.insert(instruction).second) continue;
    if (instruction == &source) return true;
    work.append(instruction->value_op_begin(), instruction->value_op_end());
  }
  return false;
}

// The value that was found in memory, whichever way it has come from the last iteration.
bool is_what_was_found(const Value& value, const AtomicCmpXchgInst& swap, const Loop& loop) {
  SmallPtrSet<const Value*, 8> seen;
  SmallVector<const Value*, 8> work{&value};
  bool found = false;
  while (!work.empty()) {
    const Value* one = work.pop_back_val();
    if (!seen.insert(one).second) continue;
    const auto* instruction = dyn_cast<Instruction>(one);
    if (!instruction || !loop.contains(instruction)) continue;  // from before the loop: it is tried once
    const auto* load = dyn_cast<LoadInst>(instruction);
    const auto* extract = dyn_cast<ExtractValueInst>(instruction);
    const bool is_loaded = load && load->getPointerOperand() == swap.getPointerOperand();
    const bool is_result = extract && extract->getAggregateOperand() == &swap && extract->getIndices()[0] == 0 &&
                           !changes_by_itself(*swap.getPointerOperand(), loop);  // or it was found elsewhere
    if (is_loaded || is_result)
      found = true;
    else if (isa<PHINode, FreezeInst, BitCastInst>(instruction))
      work.append(instruction->value_op_begin(), instruction->value_op_end());
    else
      return false;
  }
  return found;
}

// "It was what was expected", or its contrary; the predicate of the comparison tells which.
std::optional<bool> success_means(const Value& condition, const AtomicCmpXchgInst& swap) {
  const auto is_part = [&](const Value* value, unsigned index) {
    const auto* extract = dyn_cast<ExtractValueInst>(value);
    return extract && extract->getAggregateOperand() == &swap && extract->getIndices()[0] == index;
  };
  if (is_part(&condition, 1)) return true;
  const auto* compare = dyn_cast<ICmpInst>(&condition);
  if (!compare || !compare->isEquality()) return std::nullopt;
  const Value *left = compare->getOperand(0), *right = compare->getOperand(1);
  if (is_part(right, 0)) std::swap(left, right);
  if (!is_part(left, 0) || right != swap.getCompareOperand()) return std::nullopt;
  return compare->getPredicate() == ICmpInst::ICMP_EQ;
}

// A thread that nobody disturbs leaves the loop at its second try: it expects what it has found, and success is a way
// out.
bool gets_through(const AtomicCmpXchgInst& swap, const Loop& loop) {
  if (!is_what_was_found(*swap.getCompareOperand(), swap, loop)) return false;
  SmallVector<BasicBlock*, 4> exiting;
  loop.getExitingBlocks(exiting);
  return any_of(exiting, [&](const BasicBlock* block) {
    const auto* branch = dyn_cast<BranchInst>(block->getTerminator());
    if (!branch || !branch->isConditional()) return false;
    const std::optional<bool> means = success_means(*branch->getCondition(), swap);
    return means && !loop.contains(branch->getSuccessor(*means ? 0 : 1));
  });
}

// What is in a loop, found once.
struct Contents {
  explicit Contents(const Loop& all)
      : loop(all),
        writes(any_instruction(
            all, [](const Instruction& i) { return isa<StoreInst, AtomicRMWInst, AtomicCmpXchgInst>(i); })),
        orders(any_instruction(all, [](const Instruction& i) { return isa<FenceInst>(i) || orders_others(i); })) {}

  const Loop& loop;
  bool writes, orders;

 private:
  // Other accesses than its own.
  static bool orders_others(const Instruction& instruction) {
    if (const auto* load = dyn_cast<LoadInst>(&instruction)) return isStrongerThanMonotonic(load->getOrdering());
    if (const auto* rmw = dyn_cast<AtomicRMWInst>(&instruction)) return isStrongerThanMonotonic(rmw->getOrdering());
    if (const auto* swap = dyn_cast<AtomicCmpXchgInst>(&instruction))
      return isStrongerThanMonotonic(swap->getSuccessOrdering());
    return false;
  }
};

bool is_strong(const Instruction& instruction) { return instruction.isVolatile() || instruction.isAtomic(); }

// Calls that are left are recursive or through pointers: what is called may be any other function.
bool may_look_at_others(const CallBase& call) {
  if (const Function* callee = call.getCalledFunction(); callee && callee->isDeclaration()) return false;
  return any_of(*call.getModule(), [&](const Function& function) {
    return &function != call.getFunction() && any_of(instructions(function), is_strong);
  });
}

// A plain load that may find another value than before which another thread has written.
bool may_find_news(const LoadInst& load, const Contents& contents) {
  if (load.hasMetadata(LLVMContext::MD_invariant_load) ||
      isa<AllocaInst>(getUnderlyingObject(load.getPointerOperand())))
    return false;
  // Or one that no pass could move out of the loop.
  return contents.orders || (!contents.writes && contents.loop.isLoopInvariant(load.getPointerOperand()));
}

// A read whose result may be another one when another thread writes.
bool looks_at_others(const Instruction& instruction, const Contents& contents) {
  if (const auto* load = dyn_cast<LoadInst>(&instruction)) return is_strong(*load) || may_find_news(*load, contents);
  if (const auto* call = dyn_cast<CallBase>(&instruction)) return may_look_at_others(*call);
  return isa<AtomicRMWInst, AtomicCmpXchgInst>(instruction);
}

// The branches, in the loop, that control has come through for certain when it is here.
template <typename Visit>
void for_each_branch_above(const BasicBlock* block, const Loop& loop, const DominatorTree& dominators, Visit visit) {
  for (const auto* node = dominators.getNode(block)->getIDom(); node && loop.contains(node->getBlock());
       node = node->getIDom())
    visit(node->getBlock()->getTerminator());
}

bool is_private(const Value* object) {
  return isa<AllocaInst>(object) && !PointerMayBeCaptured(object, /*ReturnCaptures=*/true, /*StoreCaptures=*/true);
}

// What an instruction puts where a plain load may find it. Atomic operations do so in what they have the place from.
const Value* seen_by(const LoadInst& load, const Instruction& instruction) {
  const Value* place = written_place(instruction);
  if (!place) return nullptr;
  const Value *source = getUnderlyingObject(load.getPointerOperand()), *target = getUnderlyingObject(place);
  if (source != target && (is_private(source) || is_private(target))) return nullptr;
  if (const auto* store = dyn_cast<StoreInst>(&instruction)) return store->getValueOperand();
  if (source != target && base_of(*place) != base_of(*load.getPointerOperand())) return nullptr;
  if (const auto* rmw = dyn_cast<AtomicRMWInst>(&instruction)) return rmw->getValOperand();
  return cast<AtomicCmpXchgInst>(instruction).getNewValOperand();
}

// Which stores a load may find: all that nothing shows to be elsewhere, or those through pointers that are made of the
// same ones.
enum class Through { any_pointers, pointers_alike };

// What the loop writes where a plain load may find it, and what decides whether it does.
template <typename Visit>
void for_each_write_seen(const LoadInst& load, const Loop& loop, const DominatorTree& dominators, Through pointers,
                         Visit visit) {
  for (const BasicBlock* block : loop.blocks())
    for (const Instruction& instruction : *block) {
      const Value* seen = seen_by(load, instruction);
      if (!seen) continue;
      const Value* place = written_place(instruction);
      const bool are_alike = may_find(load, instruction);
      if (pointers == Through::pointers_alike && !are_alike) continue;
      visit(seen);
      if (are_alike) visit(place);  // which decides whether it is there
      for_each_branch_above(block, loop, dominators, visit);
    }
}

// The branches, in the loop, that decide which way control comes to the phi.
template <typename Visit>
void for_each_deciding_branch(const PHINode& phi, const Loop& loop, const DominatorTree& dominators, Visit visit) {
  const auto above = [&](const BasicBlock* block) {
    const auto* node = dominators.getNode(block)->getIDom();
    return node ? node->getBlock() : nullptr;
  };
  const bool is_header = phi.getParent() == loop.getHeader();
  const BasicBlock* common = is_header ? loop.getHeader() : above(phi.getParent());
  unsigned ways = 0;
  for (const BasicBlock* from : phi.blocks()) ways += loop.contains(from);
  if (ways < 2) return;
  for (const BasicBlock* from : phi.blocks())
    for (const BasicBlock* block = from; block && loop.contains(block);
         block = block == common ? nullptr : above(block))
      visit(block->getTerminator());
}

using Instructions = SmallPtrSet<const Instruction*, 32>;

// All in the loop that its end depends on.
Instructions deciding_instructions(const Loop& loop, const DominatorTree& dominators,
                                   Through pointers = Through::any_pointers) {
  SmallVector<BasicBlock*, 4> exiting;
  loop.getExitingBlocks(exiting);
  Instructions seen;
  SmallVector<const Instruction*, 16> work;
  const auto follow = [&](const Value* value) {
    const auto* instruction = dyn_cast<Instruction>(value);
    if (instruction && loop.contains(instruction) && seen.insert(instruction).second) work.push_back(instruction);
  };
  for (const BasicBlock* block : exiting) follow(block->getTerminator());
  while (!work.empty()) {
    const Instruction* instruction = work.pop_back_val();
    for (const Value* operand : instruction->operand_values()) follow(operand);
    if (const auto* phi = dyn_cast<PHINode>(instruction)) for_each_deciding_branch(*phi, loop, dominators, follow);
    if (const auto* load = dyn_cast<LoadInst>(instruction))
      for_each_write_seen(*load, loop, dominators, pointers, follow);
  }
  return seen;
}

// Repeating it does not bring its thread any further.
bool waits_for_others(const AtomicRMWInst& rmw, const Loop& loop, const Instructions& deciding,
                      const Instructions& deciding_by_objects) {
  switch (rmw.getOperation()) {
    case AtomicRMWInst::Add:
    case AtomicRMWInst::Sub:
    case AtomicRMWInst::UIncWrap:
    case AtomicRMWInst::UDecWrap: return !counts_to_an_end(rmw, loop, deciding, deciding_by_objects);
    case AtomicRMWInst::Xchg:  // of what was found, at the place that says: things change places, as in a hash table
    case AtomicRMWInst::Max:   // … or what is connected gets one name, as in a union of sets
    case AtomicRMWInst::Min:
    case AtomicRMWInst::UMax:
    case AtomicRMWInst::UMin:
    case AtomicRMWInst::FMax:
    case AtomicRMWInst::FMin:
      return !comes_from(*rmw.getValOperand(), rmw, loop) || !comes_from(*rmw.getPointerOperand(), rmw, loop);
    default: return true;
  }
}

// … and does not get to what the loop waits for without.
bool waits_for_others(const Instruction& instruction, const Contents& contents, const Instructions& deciding,
                      const Instructions& deciding_by_objects) {
  if (const auto* rmw = dyn_cast<AtomicRMWInst>(&instruction))
    return waits_for_others(*rmw, contents.loop, deciding, deciding_by_objects);
  if (const auto* swap = dyn_cast<AtomicCmpXchgInst>(&instruction)) return !gets_through(*swap, contents.loop);
  return looks_at_others(instruction, contents);
}

bool is_spin_loop(const Loop& loop, const DominatorTree& dominators) {
  const Instructions deciding = deciding_instructions(loop, dominators);
  Instructions by_objects;  // asked for only where something is counted
  if (any_of(deciding, [](const Instruction* one) { return isa<AtomicRMWInst>(one); }))
    by_objects = deciding_instructions(loop, dominators, Through::pointers_alike);
  const Contents contents(loop);
  return any_of(deciding,
                [&](const Instruction* one) { return waits_for_others(*one, contents, deciding, by_objects); });
}

bool may_be_spin_loop(const Loop& loop, const DominatorTree& dominators) {
  const Contents contents(loop);
  return any_of(deciding_instructions(loop, dominators),
                [&](const Instruction* one) { return looks_at_others(*one, contents); });
}

void call_mark(Instruction* before, abi::Mark mark) {
  IRBuilder<> builder(before);
  const auto symbol = abi::info(mark).symbol;
  FunctionCallee marked =
      before->getModule()->getOrInsertFunction(StringRef(symbol.data(), symbol.size()), builder.getVoidTy());
  cast<Function>(marked.getCallee())->setConvergent();
  builder.CreateCall(marked);
}

// A point of the loop's own rounds, not only of those of a loop within.
bool has_suspend_point(const Loop& loop) {
  return any_of(loop.blocks(), [&](const BasicBlock* block) {
    return (loop.isLoopLatch(block) || none_of(loop, [&](const Loop* inner) { return inner->contains(block); })) &&
           any_of(*block, [](const Instruction& i) { return mark_of(&i) == abi::Mark::spin; });
  });
}

// An operation on the place that a thread does before it comes to the loop.
bool is_tried_before(const AtomicRMWInst& attempt, const Loop& loop, const DominatorTree& dominators) {
  for (const auto* node = dominators.getNode(loop.getHeader())->getIDom(); node; node = node->getIDom())
    for (const Instruction& instruction : *node->getBlock()) {
      const auto* first = dyn_cast<AtomicRMWInst>(&instruction);
      if (first && first->getOperation() == attempt.getOperation() &&
          may_be_same_place(*first->getPointerOperand(), *attempt.getPointerOperand()))
        return true;
    }
  return false;
}

// What a failed attempt has done is taken back by something else on the place that each round does in front of this
// one, and that tells the thread nothing.
bool comes_behind_taking_back(const AtomicRMWInst& attempt, const Loop& loop, const DominatorTree& dominators,
                              const Instructions& deciding) {
  return any_instruction(loop, [&](const Instruction& other) {
    const Value* place = &other == &attempt || deciding.contains(&other) ? nullptr : written_place(other);
    return place && may_be_same_place(*place, *attempt.getPointerOperand()) && dominators.dominates(&other, &attempt);
  });
}

// while (atomicSub(n, 1) <= 0) atomicAdd(n, 1) comes from compilers as
//   if (atomicSub(n, 1) <= 0) do atomicAdd(n, 1); while (atomicSub(n, 1) <= 0)
// A thread that let others run at the back edge would do so with one of what it waits for in its hands: if all of
// them did, none would ever find enough. So they do in front of the next attempt.
Instruction* next_attempt(const Loop& loop, const DominatorTree& dominators, const Instructions& deciding) {
  SmallVector<BasicBlock*, 4> latches;
  loop.getLoopLatches(latches);
  const auto is_in_every_round = [&](const BasicBlock* block) {
    return none_of(loop, [&](const Loop* inner) { return inner->contains(block); }) &&
           all_of(latches, [&](const BasicBlock* latch) { return dominators.dominates(block, latch); });
  };
  for (BasicBlock* block : loop.blocks()) {
    if (!is_in_every_round(block)) continue;
    for (Instruction& instruction : *block) {
      auto* attempt = dyn_cast<AtomicRMWInst>(&instruction);
      if (attempt && deciding.contains(attempt) && comes_behind_taking_back(*attempt, loop, dominators, deciding) &&
          is_tried_before(*attempt, loop, dominators))
        return attempt;
    }
  }
  return nullptr;
}

// Where a loop that waits lets others run, once a round.
SmallVector<Instruction*, 4> suspend_points(const Loop& loop, const DominatorTree& dominators) {
  if (Instruction* attempt = next_attempt(loop, dominators, deciding_instructions(loop, dominators))) return {attempt};
  SmallVector<BasicBlock*, 4> latches;
  loop.getLoopLatches(latches);
  return map_to_vector<4>(latches, [](BasicBlock* latch) -> Instruction* { return latch->getTerminator(); });
}

}  // namespace

void mark_spin_loops(Function& kernel) {
  DominatorTree dominators(kernel);
  LoopInfo loops(dominators);
  for (const Loop* loop : loops.getLoopsInPreorder()) {
    if (!is_spin_loop(*loop, dominators)) continue;
    for (Instruction* point : suspend_points(*loop, dominators)) call_mark(point, abi::Mark::spin);
  }
}

void let_others_run_in_long_loops(Function& function) {
  DominatorTree dominators(function);
  const LoopInfo loops(dominators);
  SmallSetVector<BasicBlock*, 8> ends;
  for (const Loop* loop : loops.getLoopsInPreorder()) {
    if (has_suspend_point(*loop) || !may_be_spin_loop(*loop, dominators)) continue;
    SmallVector<BasicBlock*, 4> latches;
    loop->getLoopLatches(latches);
    ends.insert(latches.begin(), latches.end());
  }
  if (ends.empty()) return;
  IRBuilder<> builder(&function.getEntryBlock(), function.getEntryBlock().begin());
  ConstantInt* all = builder.getInt32(kLongLoop);
  AllocaInst* left = builder.CreateAlloca(all->getType(), nullptr, "rounds.left");
  builder.SetInsertPointPastAllocas(&function);
  builder.CreateStore(all, left);
  for (BasicBlock* end : ends) {
    builder.SetInsertPoint(end->getTerminator());
    Value* fewer = builder.CreateSub(builder.CreateLoad(all->getType(), left), builder.getInt32(1));
    builder.CreateStore(fewer, left);
    Instruction* then = SplitBlockAndInsertIfThen(builder.CreateIsNull(fewer), end->getTerminator(), false);
    builder.SetInsertPoint(then);
    builder.CreateStore(all, left);
    call_mark(then, abi::Mark::spin);
  }
}

void mark_ends_of_spin_loops(Function& kernel) {
  DominatorTree dominators(kernel);
  LoopInfo loops(dominators);
  SmallSetVector<BasicBlock*, 8> exits;
  SmallVector<const Loop*, 8> work(loops.begin(), loops.end());
  while (!work.empty()) {
    const Loop* loop = work.pop_back_val();
    if (!has_suspend_point(*loop)) {
      work.append(loop->begin(), loop->end());
      continue;
    }
    SmallVector<BasicBlock*, 4> of_loop;
    loop->getUniqueExitBlocks(of_loop);
    exits.insert(of_loop.begin(), of_loop.end());
  }
  for (BasicBlock* exit : exits) call_mark(&*exit->getFirstInsertionPt(), abi::Mark::spun);
}

void drop_ends_of_spin_loops(Function& kernel) {
  for (Instruction& instruction : make_early_inc_range(instructions(kernel)))
    if (mark_of(&instruction) == abi::Mark::spun) instruction.eraseFromParent();
}

}  // namespace softgpu::simt
