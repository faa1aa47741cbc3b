// Runs a kernel given as LLVM IR of one thread, at a chosen width, without the rest of softgpu.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "softgpu/abi/kernel.hpp"

namespace softgpu::simt::test {

struct Run {
  unsigned width = 1;  // where the kernel allows it; 0: what suits the target
  abi::Dim3 block{1, 1, 1};
  abi::Dim3 grid{1, 1, 1};
  std::vector<std::uint64_t> params;
  std::uint32_t shared_bytes = 0;
  bool compile_only = false;
};

struct Ran {
  unsigned width = 0;
  bool suspends = false;
  bool divergent_barrier = false;  // the kernel was stopped for one
  bool deadlock = false;
  std::string code;  // the optimised IR
};

// The module of a kernel's text (`define void @kernel() { ... }` and what else it needs); marked functions are declared
// by the harness. Throws std::runtime_error when the text is invalid.
std::unique_ptr<llvm::Module> parse(const std::string& ir, llvm::LLVMContext&);

// Runs such a kernel. Throws std::runtime_error when the text or the result is invalid.
Ran run(const std::string& ir, const Run&);

}  // namespace softgpu::simt::test
