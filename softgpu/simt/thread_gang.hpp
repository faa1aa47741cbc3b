// Gangs of one thread, for kernels whose threads can't run in step.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace softgpu::simt {

// Fills `gang`, an empty function of type GangArguments::type(), with the thread's own code.
void make_thread_gang(llvm::Function& thread, llvm::Function& gang);

// Emits what a marked function that waits (abi::MarkWaiting) means to a gang of one thread, in front of the call. Gives
// its result, or null.
llvm::Value* wait_alone(llvm::CallInst&, llvm::Value* gang);

}  // namespace softgpu::simt
