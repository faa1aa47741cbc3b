// Attributes of kernels: those that follow from the code, and those that programs set.
#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <climits>
#include <memory>
#include <optional>

#include "softgpu/jit/program.hpp"
#include "softgpu/runtime/base/profile.hpp"

namespace softgpu::runtime {

// What a program has set, thread-safe. What it sets for a function comes before what it sets for the kernel on a
// device, whichever was set last.
class KernelSettings {
 public:
  explicit KernelSettings(std::shared_ptr<const KernelSettings> of_kernel = nullptr) : base_(std::move(of_kernel)) {
    for (std::atomic<int>& value : values_) value.store(kNotSet, std::memory_order_relaxed);
  }

  std::optional<int> get(CUfunction_attribute attribute) const {
    const int value = values_[static_cast<std::size_t>(attribute)];
    if (value != kNotSet) return value;
    return base_ != nullptr ? base_->get(attribute) : std::nullopt;
  }
  void set(CUfunction_attribute attribute, int value) { values_[static_cast<std::size_t>(attribute)] = value; }

 private:
  static constexpr int kNotSet = INT_MIN;
  const std::shared_ptr<const KernelSettings> base_;
  std::array<std::atomic<int>, CU_FUNC_ATTRIBUTE_MAX> values_;
};

// A kernel on a device.
struct KernelOnDevice {
  const jit::KernelFacts& facts;
  const ptx::Module& module;
  const Profile& profile;
};

// As cuFuncGetAttribute and cuKernelGetAttribute report them. Throws CUDA_ERROR_INVALID_VALUE.
int kernel_attribute(CUfunction_attribute attribute, const KernelOnDevice& kernel, const KernelSettings& settings);
// Throws CUDA_ERROR_INVALID_VALUE for attributes that can't be set and values that they can't have, and
// CUDA_ERROR_NOT_PERMITTED for what was decided when the kernel was compiled.
void set_kernel_attribute(CUfunction_attribute attribute, int value, const KernelOnDevice& kernel,
                          KernelSettings& settings);

// Dynamic shared memory that a launch may ask for.
int max_dynamic_shared(const jit::KernelFacts& facts, const KernelSettings& settings);

}  // namespace softgpu::runtime
