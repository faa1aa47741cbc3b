// One thread's code to a block's: see docs/design/simt.md.
#pragma once

#include <cstdint>

#include "softgpu/abi/kernel.hpp"

namespace llvm {
class Function;
class Module;
class TargetMachine;
}  // namespace llvm

namespace softgpu::simt {

struct Options {
  abi::Shape shape = abi::Shape::general;
  unsigned width = 0;  // lanes of a gang; 0: choose by the kernel and the target
  llvm::TargetMachine* target = nullptr;
};

// The width a kernel is compiled with on this target, so that callers can pick the Shape before they compile.
// Optimises the scalar code on the way, which compile() then need not do again.
unsigned choose_width(llvm::Function& kernel, llvm::TargetMachine&);

struct Result {
  unsigned width = 0;
  bool suspends = false;          // entry point is a StartGang, else a RunBlock
  std::uint64_t stack_bytes = 0;  // upper bound of what allocas need on the stack that runs a gang or block
};

// Optimises the scalar code, widens it, and leaves a module with one exported function: `entry_name`, of type
// abi::RunBlock or abi::StartGang, optimised and ready for code generation.
Result compile(llvm::Module&, llvm::Function& kernel, const char* entry_name, const Options&);

}  // namespace softgpu::simt
