// Whether code uses addresses that it finds in memory: see docs/design/runtime.md, "Memory".
#pragma once

#include "llvm/IR/Function.h"

namespace softgpu::simt {

// False only if every address that the function uses is one of the kernel's parameters, of a variable or of memory of
// its own, moved by some distance. A distance may come from memory (an index: scaled, or of 32 bits), an address may
// not. `is_kernel`: it has no other arguments than the parameters.
bool finds_addresses(llvm::Function& function, bool is_kernel);

}  // namespace softgpu::simt
