// What is checked before a launch reaches the driver. The checks are comparisons with facts that are already there; the
// messages are built only when one fails.
#pragma once

#include <cuprum/launch.hpp>
#include <string>

#include "core/code/kernel_resource.hpp"

namespace cuprum::core {

/// `sizes` may be null when it is the number that is wrong.
[[noreturn]] void refuse_arguments(const detail::KernelResource& kernel, const char* doing,
                                   const detail::ArgumentSize* sizes, std::size_t count);
[[noreturn]] void refuse_arguments(const detail::KernelResource& kernel, const char* doing, const std::size_t* sizes,
                                   std::size_t count);

/// Says what is wrong with arguments that are known at run time.
[[noreturn]] void refuse_arguments(const detail::KernelResource& kernel, const char* doing,
                                   const KernelArguments& arguments);
[[noreturn]] void refuse_shape(const LaunchConfig& config, const ResolvedKernel& kernel, const std::string& name);

/// Clusters, cooperative launches and priorities, which few launches have.
void check_special_shape(const LaunchConfig& config, const ResolvedKernel& kernel, const std::string& name);

/// Whether as many blocks as a cooperative launch has can be on the device at the same time.
void check_co_residency(const LaunchConfig& config, const ResolvedKernel& kernel, const std::string& name,
                        int blocks_per_multiprocessor);

/// Whether clusters can be as large; `most_blocks` is what the driver says of this launch.
void check_cluster_size(const LaunchConfig& config, const ResolvedKernel& kernel, const std::string& name,
                        int most_blocks);

inline std::int64_t volume(const Dim3& extents) { return extents.x * extents.y * extents.z; }

/// Whether the kernel declares `count` parameters of these sizes; of any, where `sizes` is null because they were
/// compared before.
template <typename Size>
void check_arguments(const detail::KernelResource& kernel, const char* doing, const Size* sizes, std::size_t count) {
  if (!kernel.parameters) return;
  const auto& declared = kernel.parameter_sizes;
  bool equal = declared.size() == count;
  for (std::size_t i = 0; equal && sizes && i < count; ++i) equal = declared[i] == sizes[i];
  if (!equal) [[unlikely]]
    refuse_arguments(kernel, doing, sizes, count);
}

inline void check_arguments(const detail::KernelResource& kernel, const char* doing, const KernelArguments& arguments) {
  bool whole = arguments.addresses.size() == arguments.sizes.size();
  for (const void* address : arguments.addresses) whole = whole && address;
  if (!whole) [[unlikely]]
    refuse_arguments(kernel, doing, arguments);
  check_arguments(kernel, doing, arguments.sizes.data(), arguments.sizes.size());
}

inline bool within(const Dim3& extents, const std::array<std::int64_t, 3>& most) {
  return extents.x >= 1 && extents.x <= most[0] && extents.y >= 1 && extents.y <= most[1] && extents.z >= 1 &&
         extents.z <= most[2];
}

/// All that needs no question to the driver.
inline void check_shape(const LaunchConfig& config, const ResolvedKernel& kernel, const std::string& name) {
  const DeviceFacts& device = kernel.device;
  const bool fits = within(config.block, device.max_block_dim) && within(config.grid, device.max_grid_dim) &&
                    volume(config.block) <= kernel.max_threads_per_block;
  const bool shared_fits = config.shmem_size <= device.max_shared_memory_per_block_optin - kernel.static_shared_memory;
  if (!fits || !shared_fits) [[unlikely]]
    refuse_shape(config, kernel, name);
  if (config.cluster || config.is_cooperative || config.priority || kernel.required_cluster) [[unlikely]]
    check_special_shape(config, kernel, name);
}

}  // namespace cuprum::core
