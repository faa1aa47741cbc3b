// Gangs of one thread, for kernels whose threads can't run in step.
#pragma once

#include "llvm/IR/Function.h"

namespace softgpu::simt {

// Fills `gang`, an empty function of type GangArguments::type(), with the thread's own code.
void make_thread_gang(llvm::Function& thread, llvm::Function& gang);

}  // namespace softgpu::simt
