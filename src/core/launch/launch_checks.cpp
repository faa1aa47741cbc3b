#include "core/launch/launch_checks.hpp"

#include <cuprum/error.hpp>

#include "support/text.hpp"

namespace cuprum::core {
namespace {

using support::text;

std::string describe(const DeviceFacts& device) { return text("device ", device.device, " (", device.name, ")"); }

template <typename Size>
std::string sizes_in_words(const std::vector<Size>& sizes) {
  return sizes.empty() ? "" : text(" of ", support::join(sizes), " bytes");
}

const char* plural(std::size_t count) { return count == 1 ? " argument" : " arguments"; }

void check_extents(const char* what, const Dim3& extents, const std::array<std::int64_t, 3>& most,
                   const DeviceFacts& device, const std::string& launch) {
  const std::array<std::int64_t, 3> values = {extents.x, extents.y, extents.z};
  for (std::size_t i = 0; i < 3; ++i) {
    const char axis = "xyz"[i];
    if (values[i] < 1) {
      throw InvalidArgument(text(launch, ": ", what, '.', axis, " is ", values[i], "; it must be at least 1"));
    }
    if (values[i] > most[i]) {
      throw InvalidArgument(text(launch, ": ", what, '.', axis, " is ", values[i], ", over the limit of ", most[i],
                                 " of ", describe(device)));
    }
  }
}

void check_is_given(const char* what, const Dim3& extents, const std::string& launch) {
  if (extents != LaunchConfig().grid) return;
  throw InvalidArgument(
      text(launch, ": the configuration has no ", what, "; give both, such as {.grid = 1, .block = 256}"));
}

void check_block_size(const LaunchConfig& config, const ResolvedKernel& kernel, const std::string& launch) {
  const std::int64_t threads = volume(config.block);
  const DeviceFacts& device = kernel.device;
  if (threads > device.max_threads_per_block) {
    throw InvalidArgument(text(launch, ": a block of ", threads, " threads is over the limit of ",
                               device.max_threads_per_block, " threads per block of ", describe(device)));
  }
  if (threads > kernel.max_threads_per_block) {
    throw InvalidArgument(text(launch, ": a block of ", threads, " threads is over the limit of ",
                               kernel.max_threads_per_block, " threads per block of this kernel on ", describe(device),
                               ", which its registers or __launch_bounds__ set"));
  }
}

void check_clusters(const LaunchConfig& config, const ResolvedKernel& kernel, const std::string& launch) {
  const DeviceFacts& device = kernel.device;
  if (!device.cluster_launch) {
    throw NotSupported(text(launch, ": ", describe(device), ", of compute capability ", device.compute_capability.major,
                            '.', device.compute_capability.minor,
                            ", can't launch clusters; GPUs of 9.0 and newer can"));
  }
  const Dim3& cluster = *config.cluster;
  check_extents("cluster", cluster, device.max_grid_dim, device, launch);
  const std::array<std::int64_t, 3> clusters = {device.max_grid_dim[0] / cluster.x, device.max_grid_dim[1] / cluster.y,
                                                device.max_grid_dim[2] / cluster.z};
  check_extents("grid (in clusters)", config.grid, clusters, device, launch);
}

// A kernel that was compiled with __cluster_dims__ has clusters of that shape, whether the launch says so or not.
void check_required_cluster(const LaunchConfig& config, const Dim3& required, const std::string& launch) {
  if (config.cluster && *config.cluster != required) {
    throw InvalidArgument(text(launch, ": cluster is ", *config.cluster,
                               ", but the kernel was compiled for clusters of ", required,
                               "; pass that or no cluster"));
  }
  const Dim3& grid = config.grid;
  const bool divisible = grid.x % required.x == 0 && grid.y % required.y == 0 && grid.z % required.z == 0;
  if (!config.cluster && !divisible) {
    throw InvalidArgument(text(launch, ": grid ", grid, " is not a multiple of the clusters of ", required,
                               " blocks that the kernel was compiled for"));
  }
}

void check_priority(int priority, const PriorityRange& range, const DeviceFacts& device, const std::string& launch) {
  if (priority <= range.least && priority >= range.greatest) return;
  throw InvalidArgument(text(launch, ": priority ", priority, ": ", describe(device), " has priorities from ",
                             range.greatest, " (first) to ", range.least, " (last)"));
}

template <typename Size>
[[noreturn]] void refuse(const detail::KernelResource& kernel, const char* doing, const Size* sizes,
                         std::size_t count) {
  const std::vector<Size> given(sizes, sizes ? sizes + count : nullptr);
  const std::vector<detail::ArgumentSize>& declared = kernel.parameter_sizes;
  const std::string what = text(doing, " kernel ", kernel.name);
  if (count != declared.size()) {
    throw WrongType(text(what, ": it takes ", declared.size(), plural(declared.size()), sizes_in_words(declared), "; ",
                         count, count == 1 ? " was" : " were", " given", sizes_in_words(given)));
  }
  std::size_t at = 0;
  while (given[at] == declared[at]) ++at;
  throw WrongType(text(what, ": argument ", at + 1, " of ", count, " has ", given[at],
                       " bytes, but the kernel's parameter has ", declared[at],
                       "; pass a value of exactly the type that the kernel declares"));
}

}  // namespace

void refuse_arguments(const detail::KernelResource& kernel, const char* doing, const detail::ArgumentSize* sizes,
                      std::size_t count) {
  refuse(kernel, doing, sizes, count);
}

void refuse_arguments(const detail::KernelResource& kernel, const char* doing, const std::size_t* sizes,
                      std::size_t count) {
  refuse(kernel, doing, sizes, count);
}

void refuse_arguments(const detail::KernelResource& kernel, const char* doing, const KernelArguments& arguments) {
  const std::string what = text(doing, " kernel ", kernel.name);
  if (arguments.addresses.size() != arguments.sizes.size()) {
    throw InvalidArgument(text(what, ": ", arguments.addresses.size(), " addresses and ", arguments.sizes.size(),
                               " sizes of arguments were given; each argument has one of both"));
  }
  std::size_t at = 0;
  while (arguments.addresses[at]) ++at;
  throw InvalidArgument(text(what, ": the address of argument ", at + 1, " of ", arguments.addresses.size(),
                             " is null; pass the address of its value, also where that is a null pointer"));
}

void refuse_shape(const LaunchConfig& config, const ResolvedKernel& kernel, const std::string& name) {
  const std::string launch = text("launching kernel ", name);
  const DeviceFacts& device = kernel.device;
  check_is_given("grid", config.grid, launch);
  check_is_given("block", config.block, launch);
  check_extents("block", config.block, device.max_block_dim, device, launch);
  check_extents("grid", config.grid, device.max_grid_dim, device, launch);
  check_block_size(config, kernel, launch);
  throw InvalidArgument(text(launch, ": ", config.shmem_size, " bytes of dynamic and ", kernel.static_shared_memory,
                             " bytes of static shared memory are over the limit of ",
                             device.max_shared_memory_per_block_optin, " bytes per block of ", describe(device)));
}

void check_special_shape(const LaunchConfig& config, const ResolvedKernel& kernel, const std::string& name) {
  const std::string launch = text("launching kernel ", name);
  const DeviceFacts& device = kernel.device;
  if (config.is_cooperative && !device.cooperative_launch) {
    throw NotSupported(text(launch, ": ", describe(device), " has no cooperative launches"));
  }
  if (config.cluster) check_clusters(config, kernel, launch);
  if (const std::optional<Dim3> required = kernel.required_cluster.get())
    check_required_cluster(config, *required, launch);
  if (config.priority) check_priority(*config.priority, kernel.priorities, device, launch);
}

void check_co_residency(const LaunchConfig& config, const ResolvedKernel& kernel, const std::string& name,
                        int blocks_per_multiprocessor) {
  const std::int64_t blocks = volume(config.grid) * volume(config.cluster.value_or(Dim3()));
  const std::int64_t most = std::int64_t{blocks_per_multiprocessor} * kernel.device.multiprocessor_count;
  if (blocks <= most) return;
  throw InvalidArgument(text("launching kernel ", name, ": a cooperative grid of ", blocks,
                             " blocks is over the limit of ", most, " blocks of ", volume(config.block),
                             " threads and ", config.shmem_size, " bytes of dynamic shared memory that ",
                             describe(kernel.device), " runs at the same time; launch fewer, and let each do more"));
}

void check_cluster_size(const LaunchConfig& config, const ResolvedKernel& kernel, const std::string& name,
                        int most_blocks) {
  const std::int64_t blocks = volume(*config.cluster);
  if (blocks <= most_blocks) return;
  throw InvalidArgument(text("launching kernel ", name, ": a cluster of ", blocks, " blocks is over the limit of ",
                             most_blocks, " blocks per cluster for this launch on ", describe(kernel.device)));
}

}  // namespace cuprum::core
