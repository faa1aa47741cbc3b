// Makes loops that are entered at several places loops with one entry, which the analysis expects.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/Target/TargetMachine.h"

namespace softgpu::simt {

// No switches, no irreducible control flow.
void make_reducible(llvm::Function&, llvm::TargetMachine&);

}  // namespace softgpu::simt
