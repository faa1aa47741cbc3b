// Launches.
#include "softgpu/runtime/code/launch.hpp"

#include <optional>

#include "softgpu/api/code/functions.hpp"
#include "softgpu/api/work/streams.hpp"
#include "softgpu/runtime/code/cluster.hpp"
#include "softgpu/runtime/graphs/submit.hpp"
#include "softgpu/runtime/work/event.hpp"

namespace softgpu::api {
namespace {

using runtime::LaunchRequest;

void start(CUfunction handle, CUstream stream_handle, NullStream null, LaunchRequest request) {
  const auto stream = find_stream(stream_handle, null);
  request.priority = stream->priority();
  request.handle = handle;
  runtime::submit_launch(*stream, find_function(handle, stream->context()), request);
}

// Launch attributes beside the shape. Hints for a GPU's hardware are accepted; what would change the result is refused.
struct Attributes {
  std::optional<int> priority;
  bool cooperative = false;
  std::optional<abi::Dim3> cluster;
  CUevent completion = nullptr;
  bool is_updatable = false;  // as a node of a graph, by kernels
};

void require_flag(int value) {
  require(value == 0 || value == 1, CUDA_ERROR_INVALID_VALUE, "a launch attribute that is 0 or 1");
}

bool is_cluster_policy(CUclusterSchedulingPolicy policy) {
  return policy == CU_CLUSTER_SCHEDULING_POLICY_DEFAULT || policy == CU_CLUSTER_SCHEDULING_POLICY_SPREAD ||
         policy == CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING;
}

bool is_multiple(const abi::Dim3& whole, const abi::Dim3& part) {
  const auto divides = [](unsigned extent, unsigned by) { return by != 0 && extent % by == 0; };
  return divides(whole.x, part.x) && divides(whole.y, part.y) && divides(whole.z, part.z);
}

Attributes attributes_of(const CUlaunchConfig& config) {
  Attributes result;
  std::optional<abi::Dim3> preferred;
  require(config.numAttrs == 0 || config.attrs != nullptr, CUDA_ERROR_INVALID_VALUE, "no launch attributes");
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const CUlaunchAttributeValue& value = config.attrs[i].value;
    switch (config.attrs[i].id) {
      case CU_LAUNCH_ATTRIBUTE_IGNORE:
      case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING: break;
      // A kernel may start before the one before it has ended. It may also not.
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        require_flag(value.programmaticStreamSerializationAllowed);
        break;
      // All memory is one domain.
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: require_flag(value.memSyncDomain); break;
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT: result.completion = value.programmaticEvent.event; break;
      case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT: result.completion = value.launchCompletionEvent.event; break;
      case CU_LAUNCH_ATTRIBUTE_PRIORITY: result.priority = runtime::clamped_priority(value.priority); break;
      case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: result.cooperative = value.cooperative != 0; break;
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        result.cluster = runtime::asked_cluster(value.clusterDim.x, value.clusterDim.y, value.clusterDim.z);
        break;
      case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
        preferred = {value.preferredClusterDim.x, value.preferredClusterDim.y, value.preferredClusterDim.z};
        break;
      // One worker runs a cluster, whatever the policy.
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        require(is_cluster_policy(value.clusterSchedulingPolicyPreference), CUDA_ERROR_INVALID_VALUE,
                "no such policy for the scheduling of clusters");
        break;
      case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        require_flag(value.deviceUpdatableKernelNode.deviceUpdatable);
        result.is_updatable = value.deviceUpdatableKernelNode.deviceUpdatable != 0;
        break;
      default: throw Failure(CUDA_ERROR_INVALID_VALUE, "no such launch attribute");
    }
  }
  // A hint, which is not followed.
  require(!preferred || (result.cluster && is_multiple(*preferred, *result.cluster)), CUDA_ERROR_INVALID_CLUSTER_SIZE,
          "preferred clusters that are not made of the clusters of the launch");
  return result;
}

void start_with_attributes(const CUlaunchConfig* config, CUfunction handle, void** parameters, void** extra,
                           NullStream null) {
  require_pointer(config, "no launch configuration");
  const Attributes attributes = attributes_of(*config);
  const auto stream = find_stream(config->hStream, null);
  const auto function = find_function(handle, stream->context());
  require(!attributes.is_updatable || stream->is_captured(), CUDA_ERROR_INVALID_VALUE,
          "what kernels can change are nodes of graphs: the stream is not captured");
  const CUgraphDeviceNode node =
      runtime::submit_launch(*stream, function,
                             {.handle = handle,
                              .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                              .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                              .cluster = attributes.cluster,
                              .dynamic_shared_bytes = config->sharedMemBytes,
                              .priority = attributes.priority.value_or(stream->priority()),
                              .cooperative = attributes.cooperative,
                              .parameters = parameters,
                              .extra = extra,
                              .attributes = {config->attrs, config->numAttrs}});
  for (unsigned i = 0; i < config->numAttrs; ++i)
    if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
      config->attrs[i].value.deviceUpdatableKernelNode.devNode = node;
  if (attributes.completion != nullptr)
    find(Driver::get().work().events, attributes.completion, "not an event")->record(*stream);
}

}  // namespace

void apply_attributes(LaunchRequest& request, std::span<const CUlaunchAttribute> attributes) {
  CUlaunchConfig config{};
  config.attrs = const_cast<CUlaunchAttribute*>(attributes.data());
  config.numAttrs = static_cast<unsigned>(attributes.size());
  const Attributes applied = attributes_of(config);
  request.priority = applied.priority.value_or(request.priority);
  request.cooperative = applied.cooperative;
  request.cluster = applied.cluster;
}

}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuLaunchKernel, _ptsz,
                              (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                               unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,
                               void** parameters, void** extra),
                              [&] {
                                start(function, stream, null_stream,
                                      {.grid = {grid_x, grid_y, grid_z},
                                       .block = {block_x, block_y, block_z},
                                       .dynamic_shared_bytes = shared_bytes,
                                       .parameters = parameters,
                                       .extra = extra});
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuLaunchKernelEx, _ptsz,
                              (const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra),
                              [&] { start_with_attributes(config, function, parameters, extra, null_stream); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuLaunchCooperativeKernel, _ptsz,
                              (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                               unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,
                               void** parameters),
                              [&] {
                                start(function, stream, null_stream,
                                      {.grid = {grid_x, grid_y, grid_z},
                                       .block = {block_x, block_y, block_z},
                                       .dynamic_shared_bytes = shared_bytes,
                                       .cooperative = true,
                                       .parameters = parameters});
                              })

}  // extern "C"
