// Local memory: the stack variables of a kernel that stay in memory and whose addresses are computed while it runs.
// They move off the host's stack and out of coroutine frames, to memory that the executor keeps between inaccessible
// ranges: an index out of range must not reach what the host lives on.
#pragma once

#include "llvm/IR/Module.h"
#include "softgpu/simt/entry.hpp"

namespace softgpu::simt {

// Of a function in which threads wait, and that is about to become a coroutine: lasts for one call.
void move_local_memory_of_waiting_function(llvm::Function&);

// Of gangs that suspend: lasts as long as their block. Before coroutines are made.
void move_local_memory_of_gangs(const GangFunctions&);

// Of all other functions: lasts for one call. Behind all optimisation, which knows more of stack variables.
void move_local_memory(llvm::Module&);

}  // namespace softgpu::simt
