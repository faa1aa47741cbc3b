#include "softgpu/simt/check_addresses.hpp"

#include <cstdint>

#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "softgpu/simt/marks.hpp"
#include "softgpu/simt/suspend.hpp"

namespace softgpu::simt {

using namespace llvm;

namespace {

constexpr std::uint32_t kNoLine = ~0U;  // of the PTX; 0 says that there was no bad address

bool waits(const CallInst& call) {
  if (call.getIntrinsicID() == Intrinsic::coro_suspend) return true;
  const Function* callee = call.getCalledFunction();
  return callee && callee->getName() == kSuspendMarker;
}

// trap and assert().
bool ends_the_kernel(const CallInst& call) {
  const Function* callee = call.getCalledFunction();
  return callee && (callee->getName() == "softgpu_rt_trap" || callee->getName() == "softgpu_rt_assert_fail");
}

// A coroutine ends in its last suspension.
bool is_return(const Instruction& instruction) {
  return isa<ReturnInst>(instruction) && !instruction.getFunction()->isPresplitCoroutine();
}

class Checker {
 public:
  explicit Checker(Function& function) : function_(function), builder_(function.getContext()) {
    for (Instruction& instruction : instructions(function)) {
      auto* call = dyn_cast<CallInst>(&instruction);
      if (call && mark_of(call) == abi::Mark::address)
        notes_.push_back(call);
      else if (call ? waits(*call) || ends_the_kernel(*call) : is_return(instruction))
        ends_.push_back(&instruction);
    }
  }

  void run() {
    if (notes_.empty()) return;
    builder_.SetInsertPoint(&*function_.getEntryBlock().begin());
    bad_line_ = builder_.CreateAlloca(builder_.getInt32Ty(), nullptr, "bad_line");
    forget();
    for (CallInst* note : reverse(notes_)) remember(*note);
    for (Instruction* end : reverse(ends_)) {  // the last first: what is behind it moves to another block
      look(*end);
      auto* call = dyn_cast<CallInst>(end);
      if (!call) continue;
      builder_.SetInsertPoint(call->getNextNode());
      forget();  // so that nothing is kept while the gang waits
    }
    DominatorTree dominators(function_);
    PromoteMemToReg(bad_line_, dominators);
  }

 private:
  void forget() { builder_.CreateStore(builder_.getInt32(0), bad_line_); }

  void remember(CallInst& note) {
    builder_.SetInsertPoint(&note);
    const auto alignment = cast<ConstantInt>(note.getArgOperand(1))->getZExtValue();
    Value* excess = builder_.CreateAnd(note.getArgOperand(0), builder_.getInt64(alignment - 1));
    const DebugLoc& where = note.getDebugLoc();
    const std::uint32_t line = where && where.getLine() != 0 ? where.getLine() : kNoLine;
    Value* before = builder_.CreateLoad(builder_.getInt32Ty(), bad_line_);
    builder_.CreateStore(builder_.CreateSelect(builder_.CreateIsNotNull(excess), builder_.getInt32(line), before),
                         bad_line_);
    if (cast<ConstantInt>(note.getArgOperand(2))->isOne()) look(note);
    note.eraseFromParent();
  }

  void look(Instruction& end) {
    builder_.SetInsertPoint(&end);
    Value* line = builder_.CreateLoad(builder_.getInt32Ty(), bad_line_);
    MDNode* unlikely = MDBuilder(function_.getContext()).createUnlikelyBranchWeights();
    Instruction* gone = SplitBlockAndInsertIfThen(builder_.CreateIsNotNull(line), &end, /*Unreachable=*/true, unlikely);
    builder_.SetInsertPoint(gone);
    const FunctionCallee report = function_.getParent()->getOrInsertFunction(
        "softgpu_rt_misaligned_access", builder_.getVoidTy(), builder_.getInt32Ty());
    CallInst* call = builder_.CreateCall(report, {line});
    call->setDoesNotReturn();
    call->setDoesNotThrow();
    call->addFnAttr(Attribute::Cold);
  }

  Function& function_;
  IRBuilder<> builder_;
  SmallVector<CallInst*, 16> notes_;
  SmallVector<Instruction*, 16> ends_;
  AllocaInst* bad_line_ = nullptr;
};

}  // namespace

void check_addresses(Function& function) { Checker(function).run(); }

}  // namespace softgpu::simt
