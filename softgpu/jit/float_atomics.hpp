// Sums of floats in global memory flush subnormal numbers to zero, as a GPU's memory does; those in shared memory
// don't.
#pragma once

#include "llvm/IR/Module.h"

namespace softgpu::jit {

// Makes loops of compare and exchange of the updates of the scope abi::kFlushes.
void flush_float_atomics(llvm::Module& code);

}  // namespace softgpu::jit
