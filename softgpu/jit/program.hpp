// From a parsed PTX module to callable kernels: lowering, widening, code generation, the object cache.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "softgpu/abi/kernel.hpp"
#include "softgpu/exec/kernel_code.hpp"
#include "softgpu/jit/compiler_settings.hpp"
#include "softgpu/jit/object_cache.hpp"
#include "softgpu/ptx/ast.hpp"
#include "softgpu/ptx/diagnostic.hpp"

namespace softgpu::jit {

// What the driver API reports of a kernel, known from the PTX alone.
struct KernelFacts {
  std::string name;
  struct Param {
    std::uint64_t offset, size;
  };
  std::vector<Param> params;
  std::uint64_t param_bytes = 0;
  std::uint32_t static_shared_bytes = 0, shared_alignment = 1;
  std::uint32_t reserved_shared_bytes = 0;  // of CUDA's own, in front of those; zero when a block begins
  std::uint64_t local_bytes = 0;
  std::uint32_t registers = 0;  // an estimate in the range ptxas gives
  std::uint32_t max_threads_per_block = 1024;
  std::uint32_t required_threads[3] = {0, 0, 0};
  std::uint32_t required_cluster[3] = {0, 0, 0};
  std::uint32_t max_cluster_rank = 0;  // blocks; 0: the device's limit
  bool explicit_cluster = false;       // a launch has to name the cluster's size
  bool blocks_are_clusters = false;    // the grid of a launch counts clusters
  bool has_dynamic_shared = false;
  bool uses_heap = false;                      // calls malloc() or free()
  bool launches_graphs = false;                // calls cudaGraphLaunch()
  std::vector<std::string> missing_functions;  // called, but defined nowhere: the kernel can't run
};

// Why a kernel could not be compiled, with its name.
struct CompileFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A module's PTX, shared by all contexts it is loaded into. Immutable, thread-safe.
class Program {
 public:
  Program(ptx::Module module, std::string text, const CompilerSettings& = {});
  ~Program();
  const std::vector<KernelFacts>& kernels() const;
  const ptx::Module& module() const;
  struct Impl;
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// A Program in one context: bound to the addresses of that context's copies of the module's variables.
// Thread-safe. Code is made on first use of a kernel with a given block shape and kept.
class Image {
 public:
  // `variables[i]` is the address of module().variables[i] (null for shared ones). Without a cache, or with one that
  // does not work, everything is compiled.
  Image(std::shared_ptr<const Program>, std::vector<void*> variables, std::shared_ptr<ObjectCache> cache = nullptr);
  ~Image();

  // Compiles, or loads from the disk cache, what this block shape needs. The code lives as long as the Image. Throws
  // CompileFailure. Code that checks access asks GridLaunch::access before it uses memory.
  exec::KernelCode code(std::size_t kernel_index, abi::Dim3 block, bool checks_access = false);

  // The address of a device function as PTX code sees it, for initial values that hold one.
  static void* function_address(std::uint32_t index_in_module);

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace softgpu::jit
