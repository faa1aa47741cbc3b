#include "softgpu/simt/scalar_code.hpp"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
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
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LowerSwitch.h"
#include "softgpu/simt/code_length.hpp"
#include "softgpu/simt/marks.hpp"
#include "softgpu/simt/pass_runner.hpp"

namespace softgpu::simt {

using namespace llvm;

namespace {

BasicBlock* new_return(Function& function) {
  BasicBlock* block = BasicBlock::Create(function.getContext(), "done", &function);
  ReturnInst::Create(function.getContext(), block);
  return block;
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

// The element of an aggregate that is passed on rather than made: of a phi, say. Null for one that is made.
Value* element_of_copy(Value* aggregate, unsigned element) {
  const auto extracted = [&](IRBuilder<>& builder, Value* from) { return builder.CreateExtractValue(from, element); };
  if (auto* phi = dyn_cast<PHINode>(aggregate)) {
    Type* type = cast<StructType>(phi->getType())->getElementType(element);
    PHINode* result = PHINode::Create(type, phi->getNumIncomingValues(), "", phi);
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
      IRBuilder<> builder(phi->getIncomingBlock(i)->getTerminator());
      // A block may come several times, always with the same value.
      const int first = result->getBasicBlockIndex(phi->getIncomingBlock(i));
      result->addIncoming(first >= 0 ? result->getIncomingValue(static_cast<unsigned>(first))
                                     : extracted(builder, phi->getIncomingValue(i)),
                          phi->getIncomingBlock(i));
    }
    return result;
  }
  if (auto* select = dyn_cast<SelectInst>(aggregate)) {
    IRBuilder<> builder(select);
    return builder.CreateSelect(select->getCondition(), extracted(builder, select->getTrueValue()),
                                extracted(builder, select->getFalseValue()));
  }
  if (auto* freeze = dyn_cast<FreezeInst>(aggregate)) {
    IRBuilder<> builder(freeze);
    return builder.CreateFreeze(extracted(builder, freeze->getOperand(0)));
  }
  if (auto* insert = dyn_cast<InsertValueInst>(aggregate)) {
    if (insert->getIndices()[0] == element) return insert->getInsertedValueOperand();
    IRBuilder<> builder(insert);
    return extracted(builder, insert->getAggregateOperand());
  }
  return nullptr;
}

// LLVM passes whole pairs on (what a compare-and-swap gives, say); here only their elements are.
void take_copied_pairs_apart(Function& kernel) {
  SmallVector<ExtractValueInst*, 16> work;
  const auto collect = [&] {
    work.clear();
    for (Instruction& instruction : instructions(kernel))
      if (auto* extract = dyn_cast<ExtractValueInst>(&instruction))
        if (isa<PHINode, SelectInst, FreezeInst, InsertValueInst>(extract->getAggregateOperand()))
          work.push_back(extract);
    return !work.empty();
  };
  DenseMap<std::pair<Value*, unsigned>, WeakTrackingVH> elements;
  while (collect())
    for (ExtractValueInst* extract : work) {
      Value* aggregate = extract->getAggregateOperand();
      const unsigned index = extract->getIndices()[0];
      WeakTrackingVH& element = elements[{aggregate, index}];
      if (!element) element = element_of_copy(aggregate, index);
      extract->replaceAllUsesWith(element);
      extract->eraseFromParent();
    }
  SmallVector<Instruction*, 8> dead;
  for (Instruction& instruction : instructions(kernel))
    if (instruction.getType()->isStructTy() && isa<PHINode, SelectInst, FreezeInst, InsertValueInst>(instruction))
      dead.push_back(&instruction);
  for (Instruction* instruction : dead) instruction->replaceAllUsesWith(PoisonValue::get(instruction->getType()));
  for (Instruction* instruction : dead) instruction->eraseFromParent();
}

// Results that are pairs are taken apart where they are made.
void gather_extractions(Function& kernel) {
  for (BasicBlock& block : kernel)
    for (Instruction& instruction : block)
      if (instruction.getType()->isStructTy())
        for (User* user : instruction.users())
          if (auto* extract = dyn_cast<ExtractValueInst>(user)) extract->moveAfter(&instruction);
}

void take_pairs_apart(Function& kernel) {
  take_copied_pairs_apart(kernel);
  gather_extractions(kernel);
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

// Of LICM what does not concern memory: for every load that it moves LICM looks for writes in all the code above.
struct HoistArithmeticPass : PassInfoMixin<HoistArithmeticPass> {
  PreservedAnalyses run(Function& function, FunctionAnalysisManager& analyses) {
    bool changed = false;
    const auto loops = analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder();
    for (Loop* loop : reverse(loops))  // inner ones first
      for (BasicBlock* block : loop->blocks())
        for (Instruction& instruction : make_early_inc_range(*block)) loop->makeLoopInvariant(&instruction, changed);
    if (!changed) return PreservedAnalyses::all();
    PreservedAnalyses preserved;
    preserved.preserveSet<CFGAnalyses>();
    return preserved;
  }
};

}  // namespace

void inline_functions(Module& module, TargetMachine& target) {
  ModulePassManager passes;
  // While there is one copy of each function: a thousand calls would have thousands of variables.
  passes.addPass(createModuleToFunctionPassAdaptor(SROAPass(SROAOptions::PreserveCFG)));
  passes.addPass(AlwaysInlinerPass(/*InsertLifetime=*/false));
  passes.addPass(GlobalDCEPass());
  PassRunner(target).run(passes, module);
}

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

FunctionPassManager scalar_passes(bool many_loops) {
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
  if (many_loops) {
    passes.addPass(createFunctionToLoopPassAdaptor(std::move(loops)));
    passes.addPass(HoistArithmeticPass());
  } else {
    loops.addPass(LICMPass(LICMOptions()));
    passes.addPass(createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  }
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(GVNPass());
  passes.addPass(InstCombinePass());
  passes.addPass(ADCEPass());
  passes.addPass(SimplifyCFGPass(control_flow));
  passes.addPass(InstCombinePass());
  return passes;
}

void optimise_thread(Function& kernel, TargetMachine& target) {
  FunctionPassManager passes = scalar_passes(has_many_loops(kernel));
  PassRunner(target).run(passes, kernel);
}

void simplify_control_flow(Function& kernel, TargetMachine& target) {
  expand_overflow_intrinsics(kernel);
  take_pairs_apart(kernel);
  FunctionPassManager passes;
  passes.addPass(SimplifyCFGPass());
  PassRunner(target).run(passes, kernel);
  // SimplifyCFG may have made switches out of chains of comparisons again, and several ends.
  unify_ends(kernel);
  take_pairs_apart(kernel);
  FunctionPassManager switches;
  switches.addPass(LowerSwitchPass());
  PassRunner(target).run(switches, kernel);
}

void close_loops(Function& kernel, TargetMachine& target) {
  FunctionPassManager passes;
  passes.addPass(LoopSimplifyPass());
  passes.addPass(LCSSAPass());
  PassRunner(target).run(passes, kernel);
}

}  // namespace softgpu::simt
