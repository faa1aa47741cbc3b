// The last passes: from optimised IR to object code.
#pragma once

#include <string>

#include "softgpu/ptx/ast.hpp"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace softgpu::jit {

// Gives the module's variables names that no function has.
void name_variables(llvm::Module&, const ptx::Module& source);

// Atomic operations on shared memory: all threads of a block run on one thread of the host.
void drop_locks(llvm::Module&);

// Where bits that come as an integer are combined with other masks, moves them to a mask register in a way that LLVM
// can't look into: its instruction selection for AVX-512 (19.1) goes round in circles on some such combinations.
void settle_masks(llvm::Module&, const llvm::TargetMachine&);

// Where lanes choose between a value and one with bits of another put into it (a bit field that is inserted under a
// condition), chooses by logic: for AVX-512 LLVM 19.1 makes one masked vpternlog of it and mixes up the operands.
void choose_bit_fields_by_logic(llvm::Module&, const llvm::TargetMachine&);

// A frozen value that is undefined becomes zero: LLVM 19.1 gives each of its uses another register's bits.
void settle_undefined(llvm::Module&);

// Large frames touch each of their pages in order, so that none steps over the guard page below the stack.
void probe_stacks(llvm::Module&);

// Relocatable object code.
std::string generate(llvm::Module&, llvm::TargetMachine&);

}  // namespace softgpu::jit
