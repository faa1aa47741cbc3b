// PTX of one kernel to object code: lowering, widening, code generation.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "softgpu/abi/kernel.hpp"
#include "softgpu/jit/compiled_kernel.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::jit {

// The object's imports of module variables carry this before their names, so that a variable called `floor` is not
// taken for a function.
inline constexpr std::string_view kVariablePrefix = "softgpu.variable.";

// How a block's threads map to gangs of `width` lanes.
abi::Shape shape_of(abi::Dim3 block, unsigned width);

// Compiles in two steps, because the shape depends on the width, which depends on the code. Throws std::runtime_error.
class KernelCompiler {
 public:
  KernelCompiler(const ptx::Module&, const ptx::Function& kernel);
  ~KernelCompiler();

  unsigned width() const;
  // Once.
  CompiledKernel compile(abi::Shape);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace softgpu::jit
