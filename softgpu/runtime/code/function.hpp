// A kernel in one context: CUfunction.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "softgpu/exec/kernel_code.hpp"
#include "softgpu/jit/program.hpp"
#include "softgpu/runtime/base/spin_lock.hpp"
#include "softgpu/runtime/code/kernel_attributes.hpp"

namespace softgpu::runtime {

class Module;

// A launch that is put together by the calls of CUDA 3: cuFuncSetBlockShape, cuParamSetv and so on.
struct StagedLaunch {
  abi::Dim3 block{0, 0, 0};
  unsigned dynamic_shared_bytes = 0;
  std::vector<std::byte> parameters;
};

// Thread-safe.
class Function {
 public:
  // `of_kernel`: what is set for a library's kernel on this device, if it is one.
  Function(const std::weak_ptr<Module>& module, std::size_t index, const jit::KernelFacts& facts,
           std::shared_ptr<const KernelSettings> of_kernel)
      : module_(module), index_(index), facts_(facts), settings_(std::move(of_kernel)) {}

  std::shared_ptr<Module> module() const { return module_.lock(); }  // null once it is unloaded
  std::size_t index() const { return index_; }
  const jit::KernelFacts& facts() const { return facts_; }
  KernelSettings& settings() { return settings_; }
  const KernelSettings& settings() const { return settings_; }

  // Enumerated functions are not loaded before they are used or asked for by name. Here that is a mere formality.
  bool is_loaded() const { return loaded_; }
  void load() { loaded_ = true; }

  // `change(launch)`, one thread at a time.
  template <typename Change>
  auto with_staged_launch(Change&& change) {
    const std::scoped_lock lock(staged_mutex_);
    return change(staged_);
  }

  CUfunction handle() const { return handle_; }
  void set_handle(CUfunction handle) { handle_ = handle; }
  CUfunction take_handle() { return handle_.exchange(nullptr); }

  // Machine code, of its module's image, for blocks of this shape; made on first use.
  exec::KernelCode code(jit::Image& image, abi::Dim3 block);
  // The same that checks access: see exec::GridLaunch::access.
  exec::KernelCode checking_code(jit::Image& image, abi::Dim3 block);

 private:
  const std::weak_ptr<Module> module_;
  const std::size_t index_;
  const jit::KernelFacts& facts_;  // the module's program owns them
  KernelSettings settings_;
  std::atomic<bool> loaded_{false};
  std::atomic<CUfunction> handle_{nullptr};
  std::mutex staged_mutex_;
  StagedLaunch staged_;
  // Most programs launch a kernel with one block shape.
  SpinLock last_lock_;
  abi::Dim3 last_block_{0, 0, 0};
  exec::KernelCode last_code_;
};

}  // namespace softgpu::runtime
