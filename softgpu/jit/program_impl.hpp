// A Program's compiled kernels: what all its Images share.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "softgpu/jit/compiled_kernel.hpp"
#include "softgpu/jit/kernel_compiler.hpp"
#include "softgpu/jit/program.hpp"

namespace softgpu::jit {

inline constexpr std::size_t kShapes = 3;
inline constexpr std::size_t kVersions = 2 * kShapes;  // each also with checks of accesses

constexpr std::size_t index_of(const CodeVersion& version) {
  return static_cast<std::size_t>(version.shape) + (version.checks_access ? kShapes : 0);
}

struct Program::Impl {
  Impl(ptx::Module module, std::string text, const CompilerSettings&);

  // The object code of a kernel for this block shape: from memory, from the cache, or compiled. Thread-safe; a kernel
  // is compiled by one thread at a time, different kernels by different threads at once.
  struct Found {
    std::shared_ptr<const CompiledKernel> code;
    CodeVersion version;
  };
  Found compiled(std::size_t kernel, abi::Dim3 block, bool checks_access, ObjectCache* cache) const;

  const ptx::Module module;
  const std::string text;
  const CompilerSettings settings;
  std::vector<const ptx::Function*> functions;  // those of `facts`
  std::vector<KernelFacts> facts;

 private:
  struct Versions {
    std::mutex mutex;
    unsigned width = 0;                                                     // 0: not known yet
    std::array<std::shared_ptr<const CompiledKernel>, kVersions> compiled;  // by index_of
  };
  unsigned load_width(std::size_t kernel, ObjectCache*) const;
  std::string key(std::size_t kernel, std::string_view what) const;
  std::string width_key(std::size_t kernel) const;
  std::string code_key(std::size_t kernel, unsigned width, const CodeVersion&) const;

  mutable std::vector<Versions> versions_;
};

}  // namespace softgpu::jit
