// One value made of all lanes' integers.
#pragma once

#include "llvm/IR/Instructions.h"
#include "softgpu/simt/mask.hpp"

namespace softgpu::simt {

// The operation's order does not matter, and it has an identity that lanes which are off can take part with.
bool is_reduction(llvm::AtomicRMWInst::BinOp);

// The lanes of the mask combined by such an operation.
llvm::Value* reduce_lanes(llvm::IRBuilder<>&, llvm::AtomicRMWInst::BinOp, const Mask&, llvm::Value* vector);

}  // namespace softgpu::simt
