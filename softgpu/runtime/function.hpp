// A kernel in one context: CUfunction.
#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <memory>

#include "softgpu/exec/kernel_code.hpp"
#include "softgpu/jit/program.hpp"
#include "softgpu/runtime/profile.hpp"
#include "softgpu/runtime/spin_lock.hpp"

namespace softgpu::runtime {

class Module;

// The attributes of a kernel that programs can set. Negative: not set.
struct KernelSettings {
  std::atomic<int> max_dynamic_shared{-1};
  std::atomic<int> shared_carveout{-1};  // a hint; -1 is also CUDA's default
  std::atomic<int> cluster_width{0}, cluster_height{0}, cluster_depth{0};
  std::atomic<int> nonportable_clusters{0};
  std::atomic<int> cluster_policy{0};

  KernelSettings& operator=(const KernelSettings& other);
};

// As cuFuncGetAttribute and cuKernelGetAttribute report them. Throws CUDA_ERROR_INVALID_VALUE.
int kernel_attribute(CUfunction_attribute attribute, const jit::Program& program, std::size_t index,
                     const KernelSettings& settings, const Profile& profile);
void set_kernel_attribute(CUfunction_attribute attribute, int value, const jit::KernelFacts& facts,
                          KernelSettings& settings, const Profile& profile);

// Dynamic shared memory that a launch may ask for.
int max_dynamic_shared(const jit::KernelFacts& facts, const KernelSettings& settings);

// Thread-safe.
class Function {
 public:
  Function(const std::weak_ptr<Module>& module, std::size_t index, const jit::KernelFacts& facts)
      : module_(module), index_(index), facts_(facts) {}

  std::shared_ptr<Module> module() const { return module_.lock(); }  // null once it is unloaded
  std::size_t index() const { return index_; }
  const jit::KernelFacts& facts() const { return facts_; }
  KernelSettings& settings() { return settings_; }
  const KernelSettings& settings() const { return settings_; }

  CUfunction handle() const { return handle_; }
  void set_handle(CUfunction handle) { handle_ = handle; }
  CUfunction take_handle() { return handle_.exchange(nullptr); }

  // Machine code for blocks of this shape; made on first use.
  exec::KernelCode code(Module& module, abi::Dim3 block);

 private:
  const std::weak_ptr<Module> module_;
  const std::size_t index_;
  const jit::KernelFacts& facts_;  // the module's program owns them
  KernelSettings settings_;
  std::atomic<CUfunction> handle_{nullptr};
  // Most programs launch a kernel with one block shape.
  SpinLock last_lock_;
  abi::Dim3 last_block_{0, 0, 0};
  exec::KernelCode last_code_;
};

}  // namespace softgpu::runtime
