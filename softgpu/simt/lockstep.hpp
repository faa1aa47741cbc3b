// Whether the threads of a gang may run in step: docs/design/simt.md has the conditions and why they are enough.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/Target/TargetMachine.h"
#include "softgpu/simt/layout.hpp"

namespace softgpu::simt {

// What one thread's code says of the width of its gangs, before the block's shape is known.
struct WidthFacts {
  // Lanes exchange values with others of their warp: the gang is the warp, or a single thread.
  bool by_warps = false;
  // Threads wait for others in loops: lanes that wait for one of their own gang would wait for ever.
  bool spins = false;
};
WidthFacts width_facts(llvm::Function& kernel, bool spins);

// How many lanes a gang has; 1 when threads can't run in step. `wanted`: 1, 8, 16 or 32, or 0 for what suits the
// target.
unsigned gang_width(const WidthFacts&, unsigned wanted, const llvm::TargetMachine&);

// Blocks in which a gang of this width comes back to the scheduler.
BlockSet suspending_blocks(llvm::Function& kernel, unsigned width);

// Every operation on the warp is done with all its members here, and every barrier that warps may enter in pieces is
// entered as a whole.
bool meets_together(llvm::Function& kernel, const Divergence&, const Layout&);

}  // namespace softgpu::simt
