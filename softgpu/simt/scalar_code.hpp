// Passes over one thread's code before it is widened: they make it small, and bring it into the form that the analysis
// expects. jit/pipeline.cpp has their order.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Target/TargetMachine.h"

namespace softgpu::simt {

// All functions but recursive ones are part of the kernel; what nobody calls is gone.
void inline_functions(llvm::Module&, llvm::TargetMachine&);

// A thread that exits branches to the kernel's end.
void replace_exits(llvm::Function& kernel);

// LLVM's scalar optimisations. Where there are many loops, without those that look at all of them for each.
llvm::FunctionPassManager scalar_passes(bool many_loops);

// Where the code is still small.
void optimise_thread(llvm::Function& kernel, llvm::TargetMachine&);

// No switches, no pairs that are passed on, one block that returns and does nothing else. Control flow is reducible.
void simplify_control_flow(llvm::Function& kernel, llvm::TargetMachine&);

// Loops have a preheader, one latch and exits of their own, and what they compute leaves them through phis.
void close_loops(llvm::Function& kernel, llvm::TargetMachine&);

}  // namespace softgpu::simt
