// Kernels that may meet memory which their device may not use: see docs/design/runtime.md.
#pragma once

#include "llvm/IR/Function.h"

namespace softgpu::simt {

// Asks the runtime in front of every access that is not to the thread's own or to shared memory.
void check_access(llvm::Function&);

}  // namespace softgpu::simt
