// Whether the threads of a gang may run in step: docs/design/simt.md has the conditions and why they are enough.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/Target/TargetMachine.h"
#include "softgpu/simt/layout.hpp"

namespace softgpu::simt {

// How many lanes a gang has at most, before the block's shape is known. `wanted`: 1, 8, 16 or 32, or 0 for what suits
// the target. Where lanes exchange values with others of their warp the gang is the warp, or a single thread.
unsigned gang_width(llvm::Function& kernel, unsigned wanted, const llvm::TargetMachine&);

// Blocks in which a gang of this width comes back to the scheduler.
BlockSet suspending_blocks(llvm::Function& kernel, unsigned width);

// No lane ever waits for another one of its gang that can't run meanwhile.
bool may_run_in_step(llvm::Function& kernel, const Layout&);

}  // namespace softgpu::simt
