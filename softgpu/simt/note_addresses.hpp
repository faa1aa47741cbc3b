// PTX wants every access aligned to its size, a vector's to the size of the whole vector. The CPU doesn't mind, so the
// code has to look: docs/design/simt.md says how that is made cheap.
#pragma once

#include "llvm/IR/Function.h"

namespace softgpu::simt {

// Leaves notes (abi::Mark::address) of addresses that may not be as aligned as accesses to them say: as few as will do,
// outside of loops where that is possible. From here on accesses claim no more than the alignment of one element.
void note_addresses(llvm::Function& thread);

}  // namespace softgpu::simt
