// The function that the scheduler calls.
#pragma once

#include "llvm/IR/Function.h"
#include "softgpu/abi/kernel.hpp"

namespace softgpu::simt {

// The same gang code for gangs in which every lane holds a thread, and for the last one of a block, where some may
// not; null where the block shape has no such gang.
struct GangFunctions {
  llvm::Function* full = nullptr;
  llvm::Function* partial = nullptr;
};

// abi::RunBlock: runs the gangs of a block one after the other.
llvm::Function* make_run_block(const GangFunctions&, abi::BlockShape, unsigned width, const char* name);

// abi::StartGang: a coroutine that stops at every suspend marker.
llvm::Function* make_start_gang(const GangFunctions&, abi::BlockShape, unsigned width, const char* name);

}  // namespace softgpu::simt
