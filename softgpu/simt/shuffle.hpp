// The rules of shfl.sync, for one lane or for all lanes of a gang at once.
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "softgpu/abi/marks.hpp"

namespace softgpu::simt {

struct ShuffleSource {
  llvm::Value* lane;    // to read from; means nothing where it is not inside
  llvm::Value* inside;  // the predicate: the source lies in the lane's segment
};

// `lane`, `b` and `c` are 32-bit integers or vectors of them: the lane's number and the operands of the instruction.
// The mark is one of the shuffles or its _p twin.
ShuffleSource shuffle_source(llvm::IRBuilder<>&, abi::Mark, llvm::Value* lane, llvm::Value* b, llvm::Value* c);

// A shuffle's _p twin.
bool is_shuffle_predicate(abi::Mark);

}  // namespace softgpu::simt
