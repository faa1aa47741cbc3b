// A set of LLVM analyses for one target, with which passes are run.
#pragma once

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

namespace softgpu::simt {

class PassRunner {
 public:
  explicit PassRunner(llvm::TargetMachine& target) : builder_(&target, tuning()) {
    // Generated code calls no C library: nothing may be recognised as, or turned into, a call of one.
    llvm::TargetLibraryInfoImpl library(target.getTargetTriple());
    library.disableAllFunctions();
    functions_.registerPass([library] { return llvm::TargetLibraryAnalysis(library); });
    builder_.registerModuleAnalyses(modules_);
    builder_.registerCGSCCAnalyses(components_);
    builder_.registerFunctionAnalyses(functions_);
    builder_.registerLoopAnalyses(loops_);
    builder_.crossRegisterProxies(loops_, functions_, components_, modules_);
  }

  llvm::PassBuilder& builder() { return builder_; }
  void run(llvm::FunctionPassManager& passes, llvm::Function& function) { passes.run(function, functions_); }
  void run(llvm::ModulePassManager& passes, llvm::Module& module) { passes.run(module, modules_); }

 private:
  // Widening is done; LLVM's own vectorisers would only look for what is no longer there.
  static llvm::PipelineTuningOptions tuning() {
    llvm::PipelineTuningOptions options;
    options.LoopVectorization = false;
    options.LoopInterleaving = false;
    options.SLPVectorization = false;
    return options;
  }

  llvm::LoopAnalysisManager loops_;
  llvm::FunctionAnalysisManager functions_;
  llvm::CGSCCAnalysisManager components_;
  llvm::ModuleAnalysisManager modules_;
  llvm::PassBuilder builder_;
};

}  // namespace softgpu::simt
