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

bool leaves_memory_alone(const AtomicRMWInst& rmw) {
  const auto* operand = dyn_cast<ConstantInt>(rmw.getValOperand());
  if (!operand) return false;
  switch (rmw.getOperation()) {
    case AtomicRMWInst::Add:
    case AtomicRMWInst::Sub:
    case AtomicRMWInst::Or:
    case AtomicRMWInst::Xor: return operand->isZero();
    case AtomicRMWInst::And: return operand->isMinusOne();
    default: return false;
  }
}

// A read whose result can change only because another thread writes.
bool waits_for_others(const Instruction& instruction, const Loop& loop) {
  if (const auto* load = dyn_cast<LoadInst>(&instruction)) return load->isVolatile() || load->isAtomic();
  if (const auto* rmw = dyn_cast<AtomicRMWInst>(&instruction))
    return rmw->getOperation() == AtomicRMWInst::Xchg || leaves_memory_alone(*rmw);
  if (const auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
    return loop.isLoopInvariant(exchange->getCompareOperand());
  return false;
}

bool is_spin_loop(const Loop& loop) {
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
  }
  return false;
}

}  // namespace

bool mark_spin_loops(Function& kernel) {
  DominatorTree dominators(kernel);
  LoopInfo loops(dominators);
  bool found = false;
  Module* module = kernel.getParent();
  for (const Loop* loop : loops.getLoopsInPreorder()) {
    if (!is_spin_loop(*loop)) continue;
    found = true;
    SmallVector<BasicBlock*, 4> latches;
    loop->getLoopLatches(latches);
    for (BasicBlock* latch : latches) {
      IRBuilder<> builder(latch->getTerminator());
      const auto symbol = abi::info(abi::Mark::nanosleep).symbol;
      FunctionCallee sleep = module->getOrInsertFunction(StringRef(symbol.data(), symbol.size()), builder.getVoidTy(),
                                                         builder.getInt32Ty());
      cast<Function>(sleep.getCallee())->setConvergent();
      builder.CreateCall(sleep, {builder.getInt32(0)});
    }
  }
  return found;
}

}  // namespace softgpu::simt
