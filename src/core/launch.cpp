#include <array>
#include <cuprum/launch.hpp>

#include "core/kernel_resource.hpp"
#include "core/launch_checks.hpp"
#include "core/resources.hpp"
#include "support/text.hpp"

namespace cuprum {

using core::ContextGuard;
using core::ResolvedKernel;
using driver::Api;
using driver::Doing;
using support::text;

namespace {

CUlaunchAttribute cluster_attribute(const Dim3& cluster) {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {static_cast<unsigned>(cluster.x), static_cast<unsigned>(cluster.y),
                                static_cast<unsigned>(cluster.z)};
  return attribute;
}

CUlaunchAttribute cooperative_attribute() {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  return attribute;
}

// A kernel gets up to 48 KiB of dynamic shared memory unless it asks for more. Asking is left to the launch that needs
// it: checks have made sure that the device has that much.
void raise_shared_memory_limit(ResolvedKernel& kernel, const std::string& name, std::size_t bytes) {
  driver::call<&Api::cuFuncSetAttribute>(
      Doing{[&] { return text("giving kernel ", name, " ", bytes, " bytes of dynamic shared memory"); }},
      kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(bytes));
  kernel.max_dynamic_shared_memory = bytes;
}

}  // namespace

// Every launch of a program comes through here: no allocation, no lock, and no driver call but the one that finds out
// which context is current and the launch itself.
void detail::launch(const Stream& stream, const LaunchConfig& config, const Kernel& kernel, void** addresses,
                    const std::size_t* sizes, std::size_t count) {
  const StreamResource& queue = *Access::resource(stream);
  KernelResource& resource = *Access::resource(kernel);
  core::check_arguments(resource, sizes, count);
  ContextGuard guard(queue.context());
  ResolvedKernel& resolved = resource.in(guard.context());
  core::check_shape(config, resolved, resource.name);
  if (config.shmem_size > resolved.max_dynamic_shared_memory.load(std::memory_order_relaxed)) [[unlikely]] {
    raise_shared_memory_limit(resolved, resource.name, config.shmem_size);
  }
  std::array<CUlaunchAttribute, 2> attributes;
  unsigned attribute_count = 0;
  const Dim3 cluster = config.cluster.value_or(Dim3());
  if (config.cluster) attributes[attribute_count++] = cluster_attribute(cluster);
  if (config.is_cooperative) attributes[attribute_count++] = cooperative_attribute();
  const CUlaunchConfig native = {
      .gridDimX = static_cast<unsigned>(config.grid.x * cluster.x),
      .gridDimY = static_cast<unsigned>(config.grid.y * cluster.y),
      .gridDimZ = static_cast<unsigned>(config.grid.z * cluster.z),
      .blockDimX = static_cast<unsigned>(config.block.x),
      .blockDimY = static_cast<unsigned>(config.block.y),
      .blockDimZ = static_cast<unsigned>(config.block.z),
      .sharedMemBytes = static_cast<unsigned>(config.shmem_size),
      .hStream = queue.handle,
      .attrs = attributes.data(),
      .numAttrs = attribute_count,
  };
  driver::call<&Api::cuLaunchKernelEx>(
      Doing{[&] { return text("launching ", kernel, " with ", core::describe_shape(config), " on ", stream); }},
      &native, resolved.function, addresses, static_cast<void**>(nullptr));
}

}  // namespace cuprum
