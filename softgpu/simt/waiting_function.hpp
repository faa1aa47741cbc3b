// Functions that stay functions, because they are recursive, and in which threads wait for each other.
#pragma once

#include "llvm/IR/Function.h"

namespace softgpu::simt {

// Whether the kernel calls such functions: then its threads run each for itself.
bool calls_waiting_functions(llvm::Function& kernel);

// Makes coroutines of them, and lets `gang`, the code of a gang of one thread, and each other wait for them where they
// are called.
void make_waiting_functions(llvm::Function& gang);

}  // namespace softgpu::simt
