// When code is long. LLVM's passes are made for functions that people write: many look at pairs of blocks, loops or
// values, and take minutes for thousands of them. Long code is spared those, so that compile time stays proportional to
// its length; what they would gain is little beside all that such a kernel does.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"

namespace softgpu::simt {

// In instructions of LLVM's IR.
bool is_long(const llvm::Function&);

// So long that it is spared what is only slow, too.
bool is_huge(const llvm::Module&);

// Those over the lanes of a gang count, too.
bool has_many_loops(const llvm::Function&);
bool has_many_loops(const llvm::Module&);

}  // namespace softgpu::simt
