// What the lanes of a warp exchange. The gang is the warp here: kernels with these operations have 32 lanes.
#pragma once

#include "llvm/IR/Instructions.h"
#include "softgpu/abi/marks.hpp"
#include "softgpu/simt/emission.hpp"

namespace softgpu::simt {

class WarpWidener : Emitter {
 public:
  explicit WarpWidener(Emission& emission) : Emitter(emission) {}

  void emit(llvm::CallInst&, abi::Mark);

 private:
  llvm::Value* shuffle(llvm::CallInst&, abi::Mark);
  llvm::Value* permute(llvm::Value* vector, llvm::Value* lanes);
  llvm::Value* vote(llvm::CallInst&, abi::Mark);
  llvm::Value* match(llvm::CallInst&);
  llvm::Value* match_all(llvm::CallInst&);
  llvm::Value* reduce(llvm::CallInst&, abi::Mark);
};

}  // namespace softgpu::simt
