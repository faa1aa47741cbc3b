#include <stdexcept>

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Coroutines/CoroCleanup.h"
#include "llvm/Transforms/Coroutines/CoroEarly.h"
#include "llvm/Transforms/Coroutines/CoroSplit.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "softgpu/simt/divergence.hpp"
#include "softgpu/simt/entry.hpp"
#include "softgpu/simt/layout.hpp"
#include "softgpu/simt/marks.hpp"
#include "softgpu/simt/pass_runner.hpp"
#include "softgpu/simt/scalar_code.hpp"
#include "softgpu/simt/simt.hpp"
#include "softgpu/simt/thread_gang.hpp"
#include "softgpu/simt/widen.hpp"

namespace softgpu::simt {

using namespace llvm;

namespace {

DenseSet<const BasicBlock*> suspending_blocks(Function& kernel, unsigned width) {
  const auto suspends = [&](abi::Mark mark) {
    return abi::info(mark).kind == abi::MarkKind::block || mark == abi::Mark::nanosleep ||
           (width == 1 && mark == abi::Mark::warp_sync);
  };
  DenseSet<const BasicBlock*> blocks;
  for (Instruction& instruction : instructions(kernel)) {
    const auto mark = mark_of(&instruction);
    if (mark && suspends(*mark)) blocks.insert(instruction.getParent());
  }
  return blocks;
}

Function* new_gang(Function& kernel, const char* suffix) {
  FunctionType* type = GangArguments::type(kernel.getContext());
  Function* gang = Function::Create(type, GlobalValue::InternalLinkage, kernel.getName() + suffix, kernel.getParent());
  gang->addFnAttr(Attribute::NoUnwind);
  gang->addFnAttr(Attribute::NullPointerIsValid);
  return gang;
}

// Turns the slots back into registers before the code is inlined or split into a coroutine.
void tidy(Function& gang, TargetMachine& target) {
  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass());
  passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass());
  PassRunner(target).run(passes, gang);
}

GangFunctions make_gangs(Function& kernel, const Options& options, unsigned width,
                         const DenseSet<const BasicBlock*>& suspending) {
  GangFunctions gangs;
  gangs.full = new_gang(kernel, ".gang");
  if (width == 1) {
    make_thread_gang(kernel, *gangs.full);
    return gangs;
  }
  const Divergence divergence(kernel, options.shape, width);
  const Layout layout(kernel, divergence, suspending);
  Widener(kernel, *gangs.full, divergence, layout, {options.shape, width, true}).run();
  if (options.shape != abi::Shape::rows) {
    gangs.partial = new_gang(kernel, ".last_gang");
    Widener(kernel, *gangs.partial, divergence, layout, {options.shape, width, false}).run();
  }
  return gangs;
}

void check(Module& module, const char* stage) {
  std::string problem;
  raw_string_ostream out(problem);
  if (verifyModule(module, &out))
    throw std::runtime_error(std::string("internal error: invalid code after ") + stage + ": " + problem);
}

// Splits coroutines before anything is optimised: work that passes moved behind a suspension would have to be kept in
// the frame across it.
void split_coroutines(Module& module, TargetMachine& target) {
  CGSCCPassManager components;
  components.addPass(CoroSplitPass(/*OptimizeFrame=*/true));
  ModulePassManager passes;
  passes.addPass(CoroEarlyPass());
  passes.addPass(createModuleToPostOrderCGSCCPassAdaptor(std::move(components)));
  passes.addPass(CoroCleanupPass());
  PassRunner(target).run(passes, module);
}

void optimise(Module& module, TargetMachine& target) {
  PassRunner runner(target);
  ModulePassManager passes = runner.builder().buildPerModuleDefaultPipeline(OptimizationLevel::O3);
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

}  // namespace

Result compile(Module& module, Function& kernel, const char* entry_name, const Options& options) {
  TargetMachine& target = *options.target;
  const unsigned width = options.width ? options.width : choose_width(kernel, target);
  prepare_scalar_code(kernel, target);
  canonicalise_control_flow(kernel, target);

  const auto suspending = suspending_blocks(kernel, width);
  const bool suspends = !suspending.empty();
  Options used = options;
  if (width == 1) used.shape = abi::Shape::rows;
  const GangFunctions gangs = make_gangs(kernel, used, width, suspending);
  check(module, "widening");
  for (Function* gang : {gangs.full, gangs.partial})
    if (gang) tidy(*gang, target);

  if (suspends)
    make_start_gang(gangs, used.shape, width, entry_name);
  else
    make_run_block(gangs, used.shape, width, entry_name);
  kernel.eraseFromParent();
  check(module, "making the entry point");
  if (suspends) split_coroutines(module, target);
  optimise(module, target);
  return {width, suspends, stack_bytes(module)};
}

}  // namespace softgpu::simt
