// Functions that stop at suspend markers (suspend.hpp) and go on later: LLVM's coroutines.
//
// A coroutine gives back its frame. The frame's first word is the function that resumes it, called with the frame; it
// is null once the coroutine has ended. Its memory comes from softgpu_rt_allocate_frame.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace softgpu::simt {

struct Frame {
  llvm::Value *size, *alignment;  // constants once the frame is laid out
  llvm::Value* address;
};

// A coroutine with these parameters, named after `body`, that is still to be defined.
llvm::Function* declare_coroutine(llvm::Function& body, llvm::ArrayRef<llvm::Type*> parameters);

// Defines it. `call` emits the one call of `body` and whatever is to be done before and behind it; the body becomes
// part of the coroutine.
void define_coroutine(llvm::Function& coroutine,
                      llvm::function_ref<llvm::CallInst*(llvm::IRBuilder<>&, const Frame&)> call);

// Starts a coroutine and, if it suspends, suspends the caller until it has ended: whoever resumes resumes the innermost
// of those that wait for each other, and the caller only then. Gives the frame, and goes on behind the wait.
llvm::Value* await(llvm::IRBuilder<>&, llvm::Function& coroutine, llvm::ArrayRef<llvm::Value*> arguments);

}  // namespace softgpu::simt
