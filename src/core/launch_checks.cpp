#include "core/launch_checks.hpp"

#include <cuprum/error.hpp>

#include "support/text.hpp"

namespace cuprum::core {
namespace {

using support::text;

std::string describe(const Dim3& extents) { return text('(', extents.x, ", ", extents.y, ", ", extents.z, ')'); }

std::string describe(const DeviceFacts& device) { return text("device ", device.device, " (", device.name, ")"); }

std::string sizes_in_words(const std::vector<std::size_t>& sizes) {
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

void check_block_size(const LaunchConfig& config, const ResolvedKernel& kernel, const std::string& launch) {
  const std::int64_t threads = config.block.x * config.block.y * config.block.z;
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

}  // namespace

std::string describe_shape(const LaunchConfig& config) {
  std::string shape = text("grid ", describe(config.grid), ", block ", describe(config.block));
  if (config.cluster) shape += text(", cluster ", describe(*config.cluster));
  if (config.shmem_size != 0) shape += text(", ", config.shmem_size, " bytes of dynamic shared memory");
  if (config.is_cooperative) shape += ", cooperative";
  return shape;
}

void refuse_arguments(const detail::KernelResource& kernel, const std::size_t* sizes, std::size_t count) {
  const std::vector<std::size_t> given(sizes, sizes + count);
  std::vector<std::size_t> declared;
  for (const ParameterInfo& parameter : *kernel.parameters) declared.push_back(parameter.size);
  if (given.size() != declared.size()) {
    throw InvalidArgument(text("launching kernel ", kernel.name, ": it takes ", declared.size(),
                               plural(declared.size()), sizes_in_words(declared), "; ", given.size(),
                               given.size() == 1 ? " was" : " were", " given", sizes_in_words(given)));
  }
  std::size_t at = 0;
  while (given[at] == declared[at]) ++at;
  throw InvalidArgument(text("launching kernel ", kernel.name, ": argument ", at + 1, " of ", count, " has ", given[at],
                             " bytes, but the kernel's parameter has ", declared[at],
                             "; pass a value of exactly the type that the kernel declares"));
}

void refuse_shape(const LaunchConfig& config, const ResolvedKernel& kernel, const std::string& name) {
  const std::string launch = text("launching kernel ", name);
  const DeviceFacts& device = kernel.device;
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
  if (!config.cluster) return;
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

}  // namespace cuprum::core
