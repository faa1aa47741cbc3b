#include "softgpu/simt/spin_loops.hpp"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "softgpu/abi/marks.hpp"

namespace softgpu::simt {

using namespace llvm;

namespace {

// Doing it again changes nothing: what it finds then is what others have written.
bool is_idempotent(const AtomicRMWInst& rmw) {
  switch (rmw.getOperation()) {
    case AtomicRMWInst::Xchg:
    case AtomicRMWInst::Or:
    case AtomicRMWInst::And:
    case AtomicRMWInst::Max:
    case AtomicRMWInst::Min:
    case AtomicRMWInst::UMax:
    case AtomicRMWInst::UMin: return true;
    case AtomicRMWInst::Add:
    case AtomicRMWInst::Sub:
    case AtomicRMWInst::Xor: {
      const auto* operand = dyn_cast<ConstantInt>(rmw.getValOperand());
      return operand && operand->isZero();
    }
    default: return false;
  }
}

bool writes(const Loop& loop) {
  for (const BasicBlock* block : loop.blocks())
    for (const Instruction& instruction : *block)
      if (isa<StoreInst, AtomicRMWInst, AtomicCmpXchgInst>(instruction)) return true;
  return false;
}

// A read whose result can change only because another thread writes.
bool waits_for_others(const Instruction& instruction, const Loop& loop) {
  if (const auto* load = dyn_cast<LoadInst>(&instruction)) {
    if (load->isVolatile() || load->isAtomic()) return true;
    // One that no pass could move out of the loop, for a fence say.
    return !load->hasMetadata(LLVMContext::MD_invariant_load) && loop.isLoopInvariant(load->getPointerOperand()) &&
           !writes(loop);
  }
  if (const auto* rmw = dyn_cast<AtomicRMWInst>(&instruction))
    return is_idempotent(*rmw) && loop.isLoopInvariant(rmw->getPointerOperand()) &&
           loop.isLoopInvariant(rmw->getValOperand());
  if (const auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
    return loop.isLoopInvariant(exchange->getCompareOperand());
  return false;
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
  }
  return false;
}

}  // namespace

void mark_spin_loops(Function& kernel) {
  DominatorTree dominators(kernel);
  LoopInfo loops(dominators);
  Module* module = kernel.getParent();
  for (const Loop* loop : loops.getLoopsInPreorder()) {
    if (!is_spin_loop(*loop, dominators)) continue;
    SmallVector<BasicBlock*, 4> latches;
    loop->getLoopLatches(latches);
    for (BasicBlock* latch : latches) {
      IRBuilder<> builder(latch->getTerminator());
      const auto symbol = abi::info(abi::Mark::spin).symbol;
      FunctionCallee spin = module->getOrInsertFunction(StringRef(symbol.data(), symbol.size()), builder.getVoidTy());
      cast<Function>(spin.getCallee())->setConvergent();
      builder.CreateCall(spin);
    }
  }
}

}  // namespace softgpu::simt
