#include "softgpu/runtime/function.hpp"

#include <algorithm>
#include <mutex>

#include "softgpu/runtime/error.hpp"
#include "softgpu/runtime/module.hpp"

namespace softgpu::runtime {

KernelSettings& KernelSettings::operator=(const KernelSettings& other) {
  max_dynamic_shared = other.max_dynamic_shared.load();
  shared_carveout = other.shared_carveout.load();
  cluster_width = other.cluster_width.load();
  cluster_height = other.cluster_height.load();
  cluster_depth = other.cluster_depth.load();
  nonportable_clusters = other.nonportable_clusters.load();
  cluster_policy = other.cluster_policy.load();
  return *this;
}

int max_dynamic_shared(const jit::KernelFacts& facts, const KernelSettings& settings) {
  const int set = settings.max_dynamic_shared;
  return set >= 0 ? set : std::max(0, kSharedPerBlock - static_cast<int>(facts.static_shared_bytes));
}

int kernel_attribute(CUfunction_attribute attribute, const jit::Program& program, std::size_t index,
                     const KernelSettings& settings, const Profile& profile) {
  const jit::KernelFacts& facts = program.kernels()[index];
  const ptx::Module& module = program.module();
  const auto constant_bytes = [&] {
    std::uint64_t bytes = 0;
    for (const ptx::Variable& variable : module.variables)
      if (variable.space == ptx::Space::const_) bytes += variable.size;
    return static_cast<int>(bytes);
  };
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return static_cast<int>(facts.max_threads_per_block);
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: return static_cast<int>(facts.static_shared_bytes);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: return constant_bytes();
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: return static_cast<int>(facts.local_bytes);
    case CU_FUNC_ATTRIBUTE_NUM_REGS: return static_cast<int>(facts.registers);
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: return static_cast<int>(module.compute_capability);
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: return static_cast<int>(profile.compute_capability);
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: return 0;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: return max_dynamic_shared(facts, settings);
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return settings.shared_carveout;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: return facts.required_cluster[0] != 0 ? 1 : 0;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
      return std::max(settings.cluster_width.load(), static_cast<int>(facts.required_cluster[0]));
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
      return std::max(settings.cluster_height.load(), static_cast<int>(facts.required_cluster[1]));
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      return std::max(settings.cluster_depth.load(), static_cast<int>(facts.required_cluster[2]));
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: return settings.nonportable_clusters;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: return settings.cluster_policy;
    default: throw Failure(CUDA_ERROR_INVALID_VALUE, "no such attribute of a kernel");
  }
}

void set_kernel_attribute(CUfunction_attribute attribute, int value, const jit::KernelFacts& facts,
                          KernelSettings& settings, const Profile& profile) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      require(value >= 0 && value <= profile.shared_per_block_opt_in - static_cast<int>(facts.static_shared_bytes),
              CUDA_ERROR_INVALID_VALUE, "more shared memory than a block can have");
      settings.max_dynamic_shared = value;
      return;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      require(value >= -1 && value <= 100, CUDA_ERROR_INVALID_VALUE, "a carveout is -1 or a percentage");
      settings.shared_carveout = value;
      return;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: settings.cluster_width = value; return;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: settings.cluster_height = value; return;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: settings.cluster_depth = value; return;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: settings.nonportable_clusters = value; return;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: settings.cluster_policy = value; return;
    default: throw Failure(CUDA_ERROR_INVALID_VALUE, "this attribute of a kernel can't be set");
  }
}

exec::KernelCode Function::code(Module& module, abi::Dim3 block) {
  const auto same = [](abi::Dim3 a, abi::Dim3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; };
  {
    const std::scoped_lock lock(last_lock_);
    if (same(last_block_, block)) return last_code_;
  }
  const exec::KernelCode code = module.image().code(index_, block);
  const std::scoped_lock lock(last_lock_);
  last_block_ = block;
  return last_code_ = code;
}

}  // namespace softgpu::runtime
