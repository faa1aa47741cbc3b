#include "softgpu/jit/float_atomics.hpp"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "softgpu/abi/marks.hpp"

namespace softgpu::jit {

namespace {

constexpr std::uint32_t kSign = 0x80000000, kExponent = 0x7f800000;

// The bits of a float; of a subnormal one, those of zero with its sign.
llvm::Value* flushed(llvm::IRBuilder<>& ir, llvm::Value* bits) {
  llvm::Value* is_tiny = ir.CreateICmpEQ(ir.CreateAnd(bits, kExponent), ir.getInt32(0));
  return ir.CreateSelect(is_tiny, ir.CreateAnd(bits, kSign), bits);
}

llvm::Value* flushed_sum(llvm::IRBuilder<>& ir, llvm::Value* bits, llvm::Value* operand) {
  llvm::Value* sum = ir.CreateFAdd(ir.CreateBitCast(flushed(ir, bits), ir.getFloatTy()), operand);
  return flushed(ir, ir.CreateBitCast(sum, ir.getInt32Ty()));
}

void expand(llvm::AtomicRMWInst& update) {
  llvm::IRBuilder<> ir(&update);
  llvm::Value* pointer = update.getPointerOperand();
  llvm::Value* operand =
      ir.CreateBitCast(flushed(ir, ir.CreateBitCast(update.getValOperand(), ir.getInt32Ty())), ir.getFloatTy());
  llvm::LoadInst* first = ir.CreateAlignedLoad(ir.getInt32Ty(), pointer, update.getAlign());
  first->setAtomic(llvm::AtomicOrdering::Monotonic);
  llvm::BasicBlock* before = update.getParent();
  llvm::BasicBlock* after = llvm::SplitBlock(before, &update);
  llvm::BasicBlock* loop = llvm::BasicBlock::Create(ir.getContext(), "add.flushed", before->getParent(), after);
  before->getTerminator()->setSuccessor(0, loop);
  ir.SetInsertPoint(loop);
  llvm::PHINode* expected = ir.CreatePHI(ir.getInt32Ty(), 2);
  const llvm::AtomicOrdering order = update.getOrdering();
  auto* swap = ir.CreateAtomicCmpXchg(pointer, expected, flushed_sum(ir, expected, operand), update.getAlign(), order,
                                      llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(order));
  llvm::Value* found = ir.CreateExtractValue(swap, 0);
  expected->addIncoming(first, before);
  expected->addIncoming(found, loop);
  ir.CreateCondBr(ir.CreateExtractValue(swap, 1), after, loop);
  ir.SetInsertPoint(&update);
  update.replaceAllUsesWith(ir.CreateBitCast(found, ir.getFloatTy()));
  update.eraseFromParent();
}

}  // namespace

void flush_float_atomics(llvm::Module& code) {
  const llvm::SyncScope::ID flushes = code.getContext().getOrInsertSyncScopeID(abi::kFlushes);
  for (llvm::Function& function : code) {
    llvm::SmallVector<llvm::AtomicRMWInst*, 8> updates;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
        if (update->getSyncScopeID() == flushes) updates.push_back(update);
    for (llvm::AtomicRMWInst* update : updates) expand(*update);
  }
}

}  // namespace softgpu::jit
