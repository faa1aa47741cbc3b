// What long code is spared in the code generator, which has no setting for one function alone. simt/code_length.hpp
// says why.
#pragma once

namespace llvm {
class Module;
}  // namespace llvm

namespace softgpu::jit {

// Instruction selection and the schedulers look at a basic block as a whole, and some of it at every pair of its
// instructions: divides long ones.
void split_blocks(llvm::Module&);

// Where there are many loops, hides from LLVM's loop strength reduction when they end: it would look at all code above
// each of them to learn how often it runs.
void hide_ends_of_loops(llvm::Module&);

}  // namespace softgpu::jit
