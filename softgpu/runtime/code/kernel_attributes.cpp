#include "softgpu/runtime/code/kernel_attributes.hpp"

#include <algorithm>

#include "softgpu/runtime/base/error.hpp"

namespace softgpu::runtime {
namespace {

int default_dynamic_shared(const jit::KernelFacts& facts) {
  return std::max(0, kSharedPerBlock - static_cast<int>(facts.static_shared_bytes));
}

int constant_bytes(const ptx::Module& module) {
  std::uint64_t bytes = 0;
  for (const ptx::Variable& variable : module.variables)
    if (variable.space == ptx::Space::const_) bytes += variable.size;
  return static_cast<int>(bytes);
}

void check_dynamic_shared(const KernelOnDevice& kernel, int value) {
  const int most = kernel.profile.shared_per_block_opt_in - static_cast<int>(kernel.facts.static_shared_bytes);
  require(value >= 0 && value <= most, CUDA_ERROR_INVALID_VALUE, "more shared memory than a block can have");
}

void check_carveout(const KernelOnDevice&, int value) {
  require(value >= -1 && value <= 100, CUDA_ERROR_INVALID_VALUE, "a carveout is -1 or a percentage");
}

void check_cluster_extent(const KernelOnDevice& kernel, int value) {
  require(kernel.facts.required_cluster[0] == 0, CUDA_ERROR_INVALID_VALUE,
          "the kernel was compiled for clusters of one size");
  require(value >= 0, CUDA_ERROR_INVALID_VALUE, "a cluster has no negative extent");
}

void check_flag(const KernelOnDevice&, int value) {
  require(value == 0 || value == 1, CUDA_ERROR_INVALID_VALUE, "an attribute that is 0 or 1");
}

void check_policy(const KernelOnDevice&, int value) {
  require(value >= CU_CLUSTER_SCHEDULING_POLICY_DEFAULT && value <= CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING,
          CUDA_ERROR_INVALID_VALUE, "no such policy");
}

struct KernelAttribute {
  CUfunction_attribute which;
  int (*value)(const KernelOnDevice&);                        // unless set
  void (*check)(const KernelOnDevice&, int value) = nullptr;  // null: can't be set
};

constexpr KernelAttribute kKernelAttributes[] = {
    {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
     [](const KernelOnDevice& k) { return static_cast<int>(k.facts.max_threads_per_block); }},
    {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
     [](const KernelOnDevice& k) { return static_cast<int>(k.facts.static_shared_bytes); }},
    {CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, [](const KernelOnDevice& k) { return constant_bytes(k.module); }},
    {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, [](const KernelOnDevice& k) { return static_cast<int>(k.facts.local_bytes); }},
    {CU_FUNC_ATTRIBUTE_NUM_REGS, [](const KernelOnDevice& k) { return static_cast<int>(k.facts.registers); }},
    {CU_FUNC_ATTRIBUTE_PTX_VERSION,
     [](const KernelOnDevice& k) { return static_cast<int>(k.module.compute_capability); }},
    {CU_FUNC_ATTRIBUTE_BINARY_VERSION,
     [](const KernelOnDevice& k) { return static_cast<int>(k.profile.compute_capability); }},
    {CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, [](const KernelOnDevice&) { return 0; }},
    {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
     [](const KernelOnDevice& k) { return default_dynamic_shared(k.facts); }, check_dynamic_shared},
    {CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, [](const KernelOnDevice&) { return -1; }, check_carveout},
    {CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET,
     [](const KernelOnDevice& k) { return k.facts.required_cluster[0] != 0 || k.facts.explicit_cluster ? 1 : 0; }},
    {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
     [](const KernelOnDevice& k) { return static_cast<int>(k.facts.required_cluster[0]); }, check_cluster_extent},
    {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
     [](const KernelOnDevice& k) { return static_cast<int>(k.facts.required_cluster[1]); }, check_cluster_extent},
    {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH,
     [](const KernelOnDevice& k) { return static_cast<int>(k.facts.required_cluster[2]); }, check_cluster_extent},
    {CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, [](const KernelOnDevice&) { return 0; }, check_flag},
    {CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, [](const KernelOnDevice&) { return 0; }, check_policy},
};

const KernelAttribute& find(CUfunction_attribute which) {
  for (const KernelAttribute& attribute : kKernelAttributes)
    if (attribute.which == which) return attribute;
  throw Failure(CUDA_ERROR_INVALID_VALUE, "no such attribute of a kernel");
}

}  // namespace

int kernel_attribute(CUfunction_attribute attribute, const KernelOnDevice& kernel, const KernelSettings& settings) {
  const KernelAttribute& row = find(attribute);
  return settings.get(attribute).value_or(row.value(kernel));
}

void set_kernel_attribute(CUfunction_attribute attribute, int value, const KernelOnDevice& kernel,
                          KernelSettings& settings) {
  const KernelAttribute& row = find(attribute);
  require(row.check != nullptr, CUDA_ERROR_INVALID_VALUE, "this attribute of a kernel can't be set");
  row.check(kernel, value);
  settings.set(attribute, value);
}

int max_dynamic_shared(const jit::KernelFacts& facts, const KernelSettings& settings) {
  return settings.get(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES).value_or(default_dynamic_shared(facts));
}

}  // namespace softgpu::runtime
