// Loops that wait for another thread.
#pragma once

#include "llvm/IR/Function.h"

namespace softgpu::simt {

// Gives each loop whose end depends on what other threads do a suspend point in each round, at its back edge mostly
// (the marked function spin). A loop that retries a compare-and-swap with a fresh value is none: one
// of its threads always gets on.
void mark_spin_loops(llvm::Function& kernel);

// In single threads: gives the other loops that look at what others may write one that they come to every few thousand
// rounds. They end by themselves as far as mark_spin_loops knows; a loop that does not, holds nobody up for ever.
void let_others_run_in_long_loops(llvm::Function& function);

// Notes where threads of the kernel come out of such a loop (the marked function spun): that is progress, unless it is
// within another loop of the kind.
void mark_ends_of_spin_loops(llvm::Function& kernel);
// Nothing waits after all.
void drop_ends_of_spin_loops(llvm::Function& kernel);

}  // namespace softgpu::simt
