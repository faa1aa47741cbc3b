// Which memory an instruction of one thread's code uses.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"

namespace softgpu::simt {

struct MemoryUse {
  llvm::Value* address;
  llvm::Value* bytes;  // null: some, else none if this is 0
  bool writes;
};

// Those that are not to the stack, shared memory or parameters.
llvm::SmallVector<MemoryUse, 2> memory_uses(llvm::Instruction& instruction);

}  // namespace softgpu::simt
