#include "softgpu/simt/gang_code.hpp"

#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Coroutines/CoroCleanup.h"
#include "llvm/Transforms/Coroutines/CoroEarly.h"
#include "llvm/Transforms/Coroutines/CoroSplit.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/JumpThreading.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "softgpu/simt/code_length.hpp"
#include "softgpu/simt/pass_runner.hpp"
#include "softgpu/simt/scalar_code.hpp"
#include "softgpu/simt/slot_promotion.hpp"
#include "softgpu/simt/thread_gang.hpp"
#include "softgpu/simt/waiting_function.hpp"
#include "softgpu/simt/widen.hpp"

namespace softgpu::simt {

using namespace llvm;

namespace {

Function* new_gang(Function& thread, const char* suffix) {
  FunctionType* type = GangArguments::type(thread.getContext());
  Function* gang = Function::Create(type, GlobalValue::InternalLinkage, thread.getName() + suffix, thread.getParent());
  gang->addFnAttr(Attribute::NoUnwind);
  gang->addFnAttr(Attribute::NullPointerIsValid);
  return gang;
}

// LLVM would follow a value back to loads and recompute it behind every suspension, all of it: a running sum over n
// barriers would become n^2 additions. What is one step from what the frame has anyway may be computed again: places at
// fixed distances from an address, above all, which are part of an instruction's operand. Steps of these kinds do not
// follow each other, since LLVM makes one of them.
bool is_cheap_to_compute_again(Instruction& instruction) {
  if (isa<CastInst>(instruction)) return true;
  if (auto* address = dyn_cast<GetElementPtrInst>(&instruction); address && address->hasAllConstantIndices())
    return true;
  if (!isa<GetElementPtrInst, BinaryOperator>(instruction)) return false;
  return all_of(instruction.operands(), [](const Value* operand) { return isa<Constant, Argument>(operand); });
}

// Frames are never destroyed by code, but LLVM makes two more copies of the whole coroutine for that.
void empty_unused_clone(Function* clone) {
  if (!clone) return;
  const auto linkage = clone->getLinkage();
  clone->deleteBody();
  clone->setLinkage(linkage);
  new UnreachableInst(clone->getContext(), BasicBlock::Create(clone->getContext(), "never", clone));
}

// What is left of a coroutine consists of all of its code, most of which can't be reached, and of reloads for each use.
void tidy_clones(Module& module, TargetMachine& target) {
  FunctionPassManager functions;
  functions.addPass(EarlyCSEPass());
  functions.addPass(SimplifyCFGPass());
  // Whether a gang goes on or returns is known to whoever comes; InstCombine would look for that in all resumptions, at
  // each of them.
  functions.addPass(JumpThreadingPass());
  functions.addPass(SimplifyCFGPass());
  ModulePassManager passes;
  passes.addPass(createModuleToFunctionPassAdaptor(std::move(functions)));
  PassRunner(target).run(passes, module);
}

}  // namespace

GangFunctions widen(Function& thread, const Divergence& divergence, const Layout& layout, abi::BlockShape shape,
                    unsigned width) {
  GangFunctions gangs;
  gangs.full = new_gang(thread, ".gang");
  Widener(thread, *gangs.full, divergence, layout, {shape, width, true}).run();
  if (shape == abi::BlockShape::rows) return gangs;
  gangs.partial = new_gang(thread, ".last_gang");
  Widener(thread, *gangs.partial, divergence, layout, {shape, width, false}).run();
  return gangs;
}

GangFunctions keep_single(Function& thread) {
  GangFunctions gangs;
  gangs.full = new_gang(thread, ".gang");
  make_thread_gang(thread, *gangs.full);
  thread.deleteBody();  // so that nobody but the gang calls its functions
  make_waiting_functions(*gangs.full);
  return gangs;
}

void tidy(const GangFunctions& gangs, TargetMachine& target) {
  for (Function* gang : {gangs.full, gangs.partial}) {
    if (!gang) continue;
    const bool long_gang = is_long(*gang);
    if (long_gang) promote_slots(*gang);
    FunctionPassManager passes;
    passes.addPass(SROAPass(SROAOptions::ModifyCFG));
    passes.addPass(EarlyCSEPass());
    if (long_gang) passes.addPass(SimplifyCFGPass());  // InstCombine sinks code through blocks one by one
    passes.addPass(InstCombinePass());
    passes.addPass(SimplifyCFGPass());
    PassRunner(target).run(passes, *gang);
  }
}

void split_coroutines(Module& module, TargetMachine& target) {
  SmallVector<std::string, 4> coroutines;
  for (const Function& function : module)
    if (function.isPresplitCoroutine()) coroutines.push_back(function.getName().str());
  CGSCCPassManager components;
  components.addPass(CoroSplitPass(is_cheap_to_compute_again, /*OptimizeFrame=*/true));
  ModulePassManager passes;
  passes.addPass(GlobalDCEPass());
  passes.addPass(CoroEarlyPass());
  passes.addPass(createModuleToPostOrderCGSCCPassAdaptor(std::move(components)));
  passes.addPass(CoroCleanupPass());
  PassRunner(target).run(passes, module);
  for (const std::string& coroutine : coroutines)
    for (const char* suffix : {".destroy", ".cleanup"}) empty_unused_clone(module.getFunction(coroutine + suffix));
  tidy_clones(module, target);
}

void optimise_gangs(Module& module, TargetMachine& target) {
  PassRunner runner(target);
  ModulePassManager passes;
  const bool many_loops = has_many_loops(module);
  if (many_loops || is_huge(module))
    passes.addPass(createModuleToFunctionPassAdaptor(scalar_passes(many_loops)));
  else
    passes = runner.builder().buildPerModuleDefaultPipeline(OptimizationLevel::O3);
  passes.addPass(GlobalDCEPass());
  runner.run(passes, module);
}

std::uint64_t stack_bytes(Module& module) {
  std::uint64_t bytes = 0;
  for (Function& function : module)
    for (Instruction& instruction : instructions(function))
      if (auto* slot = dyn_cast<AllocaInst>(&instruction))
        if (const auto size = slot->getAllocationSize(module.getDataLayout())) bytes += size->getFixedValue();
  constexpr std::uint64_t kSpills = 16384;
  return bytes + kSpills;
}

}  // namespace softgpu::simt
