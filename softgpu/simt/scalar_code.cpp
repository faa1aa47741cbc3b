#include "softgpu/simt/scalar_code.hpp"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/CorrelatedValuePropagation.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/FixIrreducible.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LowerSwitch.h"
#include "softgpu/simt/marks.hpp"
#include "softgpu/simt/pass_runner.hpp"
#include "softgpu/simt/spin_loops.hpp"
#include "softgpu/simt/thread_function.hpp"

namespace softgpu::simt {

using namespace llvm;

namespace {

constexpr const char* kPrepared = "softgpu-prepared";

BasicBlock* new_return(Function& function) {
  BasicBlock* block = BasicBlock::Create(function.getContext(), "done", &function);
  ReturnInst::Create(function.getContext(), block);
  return block;
}

// A thread that exits, or that would run into nothing, goes to the kernel's end.
void replace_exits(Function& kernel) {
  SmallVector<CallInst*, 4> exits;
  for (BasicBlock& block : kernel)
    for (Instruction& instruction : block)
      if (mark_of(&instruction) == abi::Mark::exit) exits.push_back(cast<CallInst>(&instruction));
  if (exits.empty()) return;
  BasicBlock* done = new_return(kernel);
  for (CallInst* call : exits) {
    BasicBlock* block = call->getParent();
    block->splitBasicBlock(call, "exited");
    block->getTerminator()->setSuccessor(0, done);
  }
  removeUnreachableBlocks(kernel);
}

// One block that does nothing but return, so that lanes that get there have really left.
void unify_ends(Function& kernel) {
  SmallVector<BasicBlock*, 8> ends;
  for (BasicBlock& block : kernel)
    if (isa<ReturnInst>(block.getTerminator()) || isa<UnreachableInst>(block.getTerminator())) ends.push_back(&block);
  if (ends.empty()) return;
  BasicBlock* done = new_return(kernel);
  for (BasicBlock* block : ends) {
    block->getTerminator()->eraseFromParent();
    BranchInst::Create(done, block);
  }
}

// Results that are pairs are taken apart where they are made.
void gather_extractions(Function& kernel) {
  for (BasicBlock& block : kernel)
    for (Instruction& instruction : block)
      if (instruction.getType()->isStructTy())
        for (User* user : instruction.users())
          if (auto* extract = dyn_cast<ExtractValueInst>(user)) extract->moveAfter(&instruction);
}

// Overflow checks that LLVM makes of plain arithmetic, made plain again.
void expand_overflow_intrinsics(Function& kernel) {
  SmallVector<WithOverflowInst*, 4> found;
  for (BasicBlock& block : kernel)
    for (Instruction& instruction : block)
      if (auto* overflow = dyn_cast<WithOverflowInst>(&instruction)) found.push_back(overflow);
  for (WithOverflowInst* overflow : found) {
    IRBuilder<> builder(overflow);
    Value *a = overflow->getLHS(), *b = overflow->getRHS();
    const unsigned bits = a->getType()->getIntegerBitWidth();
    Type* wide = builder.getIntNTy(bits * 2);
    const auto extend = [&](Value* v) {
      return overflow->isSigned() ? builder.CreateSExt(v, wide) : builder.CreateZExt(v, wide);
    };
    Value* exact = builder.CreateBinOp(overflow->getBinaryOp(), extend(a), extend(b));
    Value* narrow = builder.CreateTrunc(exact, a->getType());
    Value* overflows = builder.CreateICmpNE(extend(narrow), exact);
    for (User* user : make_early_inc_range(overflow->users())) {
      auto* extract = cast<ExtractValueInst>(user);
      extract->replaceAllUsesWith(extract->getIndices()[0] == 0 ? narrow : overflows);
      extract->eraseFromParent();
    }
    overflow->eraseFromParent();
  }
}

FunctionPassManager scalar_passes() {
  const auto control_flow =
      SimplifyCFGOptions().hoistCommonInsts(true).sinkCommonInsts(true).convertSwitchRangeToICmp(true);
  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(true));
  passes.addPass(SimplifyCFGPass());
  passes.addPass(InstCombinePass());
  passes.addPass(CorrelatedValuePropagationPass());
  passes.addPass(SimplifyCFGPass());
  LoopPassManager loops;
  loops.addPass(LoopRotatePass());
  loops.addPass(LICMPass(LICMOptions()));
  passes.addPass(createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(GVNPass());
  passes.addPass(InstCombinePass());
  passes.addPass(ADCEPass());
  passes.addPass(SimplifyCFGPass(control_flow));
  passes.addPass(InstCombinePass());
  return passes;
}

}  // namespace

void prepare_scalar_code(Function& kernel, TargetMachine& target) {
  if (kernel.hasFnAttribute(kPrepared)) return;
  Module& module = *kernel.getParent();
  module.setDataLayout(target.createDataLayout());
  module.setTargetTriple(target.getTargetTriple().str());
  PassRunner runner(target);
  ModulePassManager inlining;
  inlining.addPass(AlwaysInlinerPass(/*InsertLifetime=*/false));
  inlining.addPass(GlobalDCEPass());
  runner.run(inlining, module);
  replace_exits(kernel);
  FunctionPassManager passes = scalar_passes();
  PassRunner fresh(target);
  fresh.run(passes, kernel);
  add_thread_parameters(kernel);
  if (mark_spin_loops(kernel)) kernel.addFnAttr(kSpins);
  kernel.addFnAttr(kPrepared);
}

void canonicalise_control_flow(Function& kernel, TargetMachine& target) {
  expand_overflow_intrinsics(kernel);
  FunctionPassManager passes;
  passes.addPass(LowerSwitchPass());
  passes.addPass(FixIrreduciblePass());
  passes.addPass(SimplifyCFGPass());
  PassRunner(target).run(passes, kernel);
  // SimplifyCFG may have made switches out of chains of comparisons again, and several ends.
  unify_ends(kernel);
  FunctionPassManager loops;
  loops.addPass(LowerSwitchPass());
  loops.addPass(LoopSimplifyPass());
  loops.addPass(LCSSAPass());
  PassRunner(target).run(loops, kernel);
  gather_extractions(kernel);
}

}  // namespace softgpu::simt
