// Functions that stay functions: recursive ones.
#pragma once

#include "llvm/IR/Function.h"

namespace softgpu::simt {

// Gives every function of the module but the kernel a first parameter, the calling thread's record, and passes it
// along at every call. Inside such functions the marked queries read the record, and what waits for other
// threads stays; in the kernel, calls take the record from the marked function `thread`.
void add_thread_parameters(llvm::Function& kernel);

}  // namespace softgpu::simt
