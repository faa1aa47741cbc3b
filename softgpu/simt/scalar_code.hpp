// One thread's code before it is widened: small, and in the form that the analysis expects.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/Target/TargetMachine.h"

namespace softgpu::simt {

// Attribute of a prepared kernel in which threads wait for each other in loops.
inline constexpr const char* kSpins = "softgpu-spins";

// Inlines, optimises and brings control flow into shape. Doing it again changes nothing and costs nothing.
void prepare_scalar_code(llvm::Function& kernel, llvm::TargetMachine&);

// Loops simplified and closed, no switches, no irreducible control flow, one return, no unreachable ends.
void canonicalise_control_flow(llvm::Function& kernel, llvm::TargetMachine&);

}  // namespace softgpu::simt
