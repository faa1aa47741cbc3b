#include "softgpu/simt/spin_loops.hpp"

#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "softgpu/simt/marks.hpp"

namespace softgpu::simt {

using namespace llvm;

namespace {

bool is_zero(const Value& value) {
  const auto* constant = dyn_cast<Constant>(&value);
  return constant && (constant->isNullValue() || constant->isNegativeZeroValue());
}

template <typename Found>
bool any_instruction(const Loop& loop, Found found) {
  return any_of(loop.blocks(), [&](const BasicBlock* block) { return any_of(*block, found); });
}

// Something else in the loop may take back what an atomic operation has added there.
bool is_undone(const AtomicRMWInst& rmw, const Loop& loop) {
  return any_instruction(loop, [&](const Instruction& other) {
    if (&other == &rmw) return false;
    if (const auto* second = dyn_cast<AtomicRMWInst>(&other))
      return second->getPointerOperand() == rmw.getPointerOperand();
    if (const auto* swap = dyn_cast<AtomicCmpXchgInst>(&other))
      return swap->getPointerOperand() == rmw.getPointerOperand();
    return false;
  });
}

bool adds(const AtomicRMWInst& rmw) {
  switch (rmw.getOperation()) {
    case AtomicRMWInst::Add:
    case AtomicRMWInst::Sub:
    case AtomicRMWInst::FAdd:
    case AtomicRMWInst::FSub:
    case AtomicRMWInst::UIncWrap:
    case AtomicRMWInst::UDecWrap: return true;
    default: return false;
  }
}

// Repeating it does not bring its thread any further.
bool waits_for_others(const AtomicRMWInst& rmw, const Loop& loop) {
  const bool is_fixed = loop.isLoopInvariant(rmw.getValOperand()) || loop.isLoopInvariant(rmw.getPointerOperand());
  switch (rmw.getOperation()) {
    case AtomicRMWInst::Or:
    case AtomicRMWInst::And:
    case AtomicRMWInst::Xor:
    case AtomicRMWInst::Nand: return true;
    case AtomicRMWInst::Xchg:  // of another value elsewhere each time: things change places, as in a hash table
    case AtomicRMWInst::Max:   // … or what is connected gets one name, as in a union of sets
    case AtomicRMWInst::Min:
    case AtomicRMWInst::UMax:
    case AtomicRMWInst::UMin:
    case AtomicRMWInst::FMax:
    case AtomicRMWInst::FMin: return is_fixed;
    default: return is_zero(*rmw.getValOperand()) || is_undone(rmw, loop);  // it may count: counts_to_an_end()
  }
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
    if ((load && load->getPointerOperand() == swap.getPointerOperand()) ||
        (extract && extract->getAggregateOperand() == &swap && extract->getIndices()[0] == 0))
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

bool writes(const Loop& loop) {
  return any_instruction(loop,
                         [](const Instruction& i) { return isa<StoreInst, AtomicRMWInst, AtomicCmpXchgInst>(i); });
}

bool is_strong(const Instruction& instruction) { return instruction.isVolatile() || instruction.isAtomic(); }

// Calls that are left are recursive or through pointers: what is called may be any other function.
bool may_look_at_others(const CallBase& call) {
  if (const Function* callee = call.getCalledFunction(); callee && callee->isDeclaration()) return false;
  return any_of(*call.getModule(), [&](const Function& function) {
    return &function != call.getFunction() && any_of(instructions(function), is_strong);
  });
}

// A read whose result can change only because another thread writes.
bool waits_for_others(const Instruction& instruction, const Loop& loop) {
  if (const auto* load = dyn_cast<LoadInst>(&instruction)) {
    if (load->isVolatile() || load->isAtomic()) return true;
    // One that no pass could move out of the loop, for a fence say.
    return !load->hasMetadata(LLVMContext::MD_invariant_load) && loop.isLoopInvariant(load->getPointerOperand()) &&
           (!writes(loop) || any_instruction(loop, [](const Instruction& i) { return isa<FenceInst>(i); }));
  }
  if (const auto* rmw = dyn_cast<AtomicRMWInst>(&instruction)) return waits_for_others(*rmw, loop);
  if (const auto* swap = dyn_cast<AtomicCmpXchgInst>(&instruction)) return !gets_through(*swap, loop);
  if (const auto* call = dyn_cast<CallBase>(&instruction)) return may_look_at_others(*call);
  return false;
}

// The branches, in the loop, that control has come through for certain when it is here.
template <typename Visit>
void for_each_branch_above(const BasicBlock* block, const Loop& loop, const DominatorTree& dominators, Visit visit) {
  for (const auto* node = dominators.getNode(block)->getIDom(); node && loop.contains(node->getBlock());
       node = node->getIDom())
    visit(node->getBlock()->getTerminator());
}

// What the loop stores where a plain load may find it, and what decides whether it does.
template <typename Visit>
void for_each_store_seen(const LoadInst& load, const Loop& loop, const DominatorTree& dominators, Visit visit) {
  const Value* source = getUnderlyingObject(load.getPointerOperand());
  for (const BasicBlock* block : loop.blocks())
    for (const Instruction& instruction : *block) {
      const auto* store = dyn_cast<StoreInst>(&instruction);
      if (!store) continue;
      const Value* target = getUnderlyingObject(store->getPointerOperand());
      const bool apart = source != target && (isa<AllocaInst>(source) || isa<AllocaInst>(target));
      if (apart) continue;
      visit(store->getValueOperand());
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

// A thread that counts gets to the end if all that looks at the count asks whether it is beyond something.
bool counts_to_an_end(const AtomicRMWInst& rmw, const SmallPtrSetImpl<const Instruction*>& deciding) {
  SmallPtrSet<const Value*, 8> seen;
  SmallVector<const Value*, 8> work{&rmw};
  while (!work.empty()) {
    const Value* count = work.pop_back_val();
    if (!seen.insert(count).second) continue;
    for (const User* user : count->users()) {
      const auto* instruction = cast<Instruction>(user);
      if (!deciding.contains(instruction)) continue;
      if (isa<PHINode, CastInst, FreezeInst>(instruction) || instruction->getOpcode() == Instruction::Add)
        work.push_back(instruction);
      else if (const auto* compare = dyn_cast<CmpInst>(instruction); !compare || compare->isEquality())
        return false;
    }
  }
  return true;
}

bool is_spin_loop(const Loop& loop, const DominatorTree& dominators) {
  SmallVector<BasicBlock*, 4> exiting;
  loop.getExitingBlocks(exiting);
  SmallPtrSet<const Instruction*, 32> seen;
  SmallVector<const Instruction*, 16> work;
  const auto follow = [&](const Value* value) {
    const auto* instruction = dyn_cast<Instruction>(value);
    if (instruction && loop.contains(instruction) && seen.insert(instruction).second) work.push_back(instruction);
  };
  for (const BasicBlock* block : exiting) follow(block->getTerminator());
  while (!work.empty()) {
    const Instruction* instruction = work.pop_back_val();
    if (waits_for_others(*instruction, loop)) return true;
    for (const Value* operand : instruction->operand_values()) follow(operand);
    if (const auto* phi = dyn_cast<PHINode>(instruction)) for_each_deciding_branch(*phi, loop, dominators, follow);
    if (const auto* load = dyn_cast<LoadInst>(instruction)) for_each_store_seen(*load, loop, dominators, follow);
  }
  return any_of(seen, [&](const Instruction* instruction) {
    const auto* rmw = dyn_cast<AtomicRMWInst>(instruction);
    return rmw && adds(*rmw) && !counts_to_an_end(*rmw, seen);
  });
}

void call_mark(Instruction* before, abi::Mark mark) {
  IRBuilder<> builder(before);
  const auto symbol = abi::info(mark).symbol;
  FunctionCallee marked =
      before->getModule()->getOrInsertFunction(StringRef(symbol.data(), symbol.size()), builder.getVoidTy());
  cast<Function>(marked.getCallee())->setConvergent();
  builder.CreateCall(marked);
}

bool has_suspend_point(const Loop& loop) {
  SmallVector<BasicBlock*, 4> latches;
  loop.getLoopLatches(latches);
  return any_of(latches, [](const BasicBlock* latch) {
    return any_of(*latch, [](const Instruction& i) { return mark_of(&i) == abi::Mark::spin; });
  });
}

}  // namespace

void mark_spin_loops(Function& kernel) {
  DominatorTree dominators(kernel);
  LoopInfo loops(dominators);
  for (const Loop* loop : loops.getLoopsInPreorder()) {
    if (!is_spin_loop(*loop, dominators)) continue;
    SmallVector<BasicBlock*, 4> latches;
    loop->getLoopLatches(latches);
    for (BasicBlock* latch : latches) call_mark(latch->getTerminator(), abi::Mark::spin);
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
