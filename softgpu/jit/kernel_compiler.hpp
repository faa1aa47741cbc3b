// Compiles one kernel of a module: runs the pipeline over it.
#pragma once

#include <memory>

#include "softgpu/abi/kernel.hpp"
#include "softgpu/jit/compiled_kernel.hpp"
#include "softgpu/jit/compiler_settings.hpp"
#include "softgpu/ptx/ast.hpp"

namespace softgpu::jit {

// What code is made for.
struct CodeVersion {
  abi::BlockShape shape;
  bool checks_access;  // asks before accesses whether they are allowed
};

// How a block's threads map to gangs of `width` lanes.
abi::BlockShape shape_of(abi::Dim3 block, unsigned width);

// Compiles in two steps, because the shape depends on the width, which depends on the code. Throws std::runtime_error.
class KernelCompiler {
 public:
  KernelCompiler(const ptx::Module&, const ptx::Function& kernel, const CompilerSettings&);
  ~KernelCompiler();

  // The most lanes that a gang may have; code for some block shapes has fewer.
  unsigned width() const;
  // Once.
  CompiledKernel compile(const CodeVersion&);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace softgpu::jit
