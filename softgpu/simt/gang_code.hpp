// Passes that make gangs of one thread's code and finish them. jit/pipeline.cpp has their order.
#pragma once

#include <cstdint>

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "softgpu/simt/entry.hpp"
#include "softgpu/simt/layout.hpp"

namespace softgpu::simt {

// A gang of several threads in step, for the blocks of this shape.
GangFunctions widen(llvm::Function& thread, const Divergence&, const Layout&, abi::BlockShape, unsigned width);

// A gang of one thread. Of the thread's own function nothing but its name is left.
GangFunctions keep_single(llvm::Function& thread);

// Turns the slots that widening leaves back into registers, before the code is inlined or split into a coroutine.
void tidy(const GangFunctions&, llvm::TargetMachine&);

// Splits coroutines before anything is optimised: work that passes moved behind a suspension would have to be kept in
// the frame across it.
void split_coroutines(llvm::Module&, llvm::TargetMachine&);

// LLVM's -O3 without its vectorisers; less where there are many loops.
void optimise_gangs(llvm::Module&, llvm::TargetMachine&);

// Upper bound of what the code needs on the stack that runs a gang or block.
std::uint64_t stack_bytes(llvm::Module&);

}  // namespace softgpu::simt
