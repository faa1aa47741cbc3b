#include "core/launch/native_launch.hpp"

#include "core/launch/launch_checks.hpp"
#include "support/text.hpp"

namespace cuprum::core {

using driver::Api;
using driver::Doing;
using support::text;

namespace {

// Every device with clusters takes as many blocks in one; larger ones are a matter of the device and the launch.
constexpr std::int64_t portable_cluster_size = 8;

// A kernel gets up to 48 KiB of dynamic shared memory unless it asks for more. Asking is left to the first launch that
// needs it, and is for all that the device has: then it happens once, and two threads, or two handles of one kernel,
// can't take away from each other what they asked for. What a launch occupies depends on what it uses, not on this.
void raise_shared_memory_limit(ResolvedKernel& kernel, const std::string& name) {
  ContextGuard guard(kernel.context());
  const std::size_t most = kernel.device.max_shared_memory_per_block_optin - kernel.static_shared_memory;
  driver::call<&Api::cuFuncSetAttribute>(
      Doing{[&] { return text("giving kernel ", name, " up to ", most, " bytes of dynamic shared memory"); }},
      kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(most));
  kernel.max_dynamic_shared_memory = most;
}

int max_active_blocks(const LaunchConfig& config, const ResolvedKernel& kernel, const std::string& name) {
  ContextGuard guard(kernel.context());
  int blocks = 0;
  driver::call<&Api::cuOccupancyMaxActiveBlocksPerMultiprocessor>(
      Doing{[&] { return text("asking how many blocks of kernel ", name, " run at the same time"); }}, &blocks,
      kernel.function, static_cast<int>(volume(config.block)), config.shmem_size);
  return blocks;
}

// Of the launch without its cluster: the driver refuses to answer where that is too large.
int max_cluster_size(LaunchConfig config, const ResolvedKernel& kernel, const std::string& name) {
  config.cluster.reset();
  ContextGuard guard(kernel.context());
  const NativeLaunch launch(config);  // has the attributes that `native` points to
  const CUlaunchConfig native = launch.on(nullptr);
  int blocks = 0;
  driver::call<&Api::cuOccupancyMaxPotentialClusterSize>(
      Doing{[&] { return text("asking how large clusters of kernel ", name, " can be"); }}, &blocks, kernel.function,
      &native);
  return blocks;
}

}  // namespace

NativeLaunch::NativeLaunch(const LaunchConfig& config) {
  const Dim3 cluster = config.cluster.value_or(Dim3());
  config_ = {
      .gridDimX = static_cast<unsigned>(config.grid.x * cluster.x),
      .gridDimY = static_cast<unsigned>(config.grid.y * cluster.y),
      .gridDimZ = static_cast<unsigned>(config.grid.z * cluster.z),
      .blockDimX = static_cast<unsigned>(config.block.x),
      .blockDimY = static_cast<unsigned>(config.block.y),
      .blockDimZ = static_cast<unsigned>(config.block.z),
      .sharedMemBytes = static_cast<unsigned>(config.shmem_size),
      .hStream = nullptr,
      .attrs = nullptr,
      .numAttrs = 0,
  };
  if (config.cluster) {
    add(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).value.clusterDim = {
        static_cast<unsigned>(cluster.x), static_cast<unsigned>(cluster.y), static_cast<unsigned>(cluster.z)};
  }
  if (config.is_cooperative) add(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).value.cooperative = 1;
  if (config.programmatic_stream_serialization) {
    add(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION).value.programmaticStreamSerializationAllowed = 1;
  }
  if (config.priority) add(CU_LAUNCH_ATTRIBUTE_PRIORITY).value.priority = *config.priority;
}

CUlaunchAttribute& NativeLaunch::add(CUlaunchAttributeID id) {
  CUlaunchAttribute& attribute = attributes_[config_.numAttrs++];
  attribute = {};
  attribute.id = id;
  return attribute;
}

void admit(const LaunchConfig& config, ResolvedKernel& kernel, const std::string& name) {
  check_shape(config, kernel, name);
  if (config.shmem_size > kernel.max_dynamic_shared_memory.load(std::memory_order_relaxed)) [[unlikely]] {
    raise_shared_memory_limit(kernel, name);
  }
  if (config.is_cooperative) [[unlikely]] {
    check_co_residency(config, kernel, name, max_active_blocks(config, kernel, name));
  }
  if (config.cluster && volume(*config.cluster) > portable_cluster_size) [[unlikely]] {
    check_cluster_size(config, kernel, name, max_cluster_size(config, kernel, name));
  }
}

void refuse_start(CUresult result, const LaunchSubject& subject) {
  driver::detail::raise(result, driver::detail::index_of_cuLaunchKernelEx,
                        text("launching ", subject.kernel, " with ", subject.config, " on ", subject.stream));
}

}  // namespace cuprum::core
