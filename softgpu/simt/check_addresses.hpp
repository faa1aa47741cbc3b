// The notes of addresses that may not be aligned (note_addresses.hpp), looked at.
#pragma once

#include "llvm/IR/Function.h"

namespace softgpu::simt {

// For functions that run gangs or are called by them. A note costs no branch: it is remembered, and looked at where the
// gang ends, waits or leaves the function. If the address was not aligned, the kernel ends there.
void check_addresses(llvm::Function&);

}  // namespace softgpu::simt
