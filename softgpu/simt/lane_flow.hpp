// Control flow inside the code of one block: what the thread's code has no blocks for.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "softgpu/simt/mask.hpp"

namespace softgpu::simt {

// Emits `then` under the condition, which mostly holds, and `otherwise` else, and goes on behind both.
void branch(llvm::IRBuilder<>&, llvm::Value* condition, llvm::function_ref<void()> then,
            llvm::function_ref<void()> otherwise);

// Emits a loop over the lanes of a mask that has at least one, with each lane's number, an i32.
void for_each_lane(llvm::IRBuilder<>&, const Mask&, llvm::function_ref<void(llvm::Value* lane)> body);

}  // namespace softgpu::simt
