// Occupancy.
#include "softgpu/runtime/code/occupancy.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "softgpu/api/code/functions.hpp"
#include "softgpu/api/work/streams.hpp"
#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/code/cluster.hpp"

namespace softgpu::api {
namespace {

using runtime::Device;
using runtime::Function;
using runtime::OccupancyKernel;

// The body gets what the rules need to know of the function, and the device.
template <typename Body>
void with_function(CUfunction handle, Context& context, Body&& body) {
  const auto function = find_function(handle, context);
  const auto module = function->module();  // for the time of the call
  require(module != nullptr, CUDA_ERROR_INVALID_HANDLE, "the kernel's module is unloaded");
  const OccupancyKernel kernel{function->facts(), runtime::max_dynamic_shared(function->facts(), function->settings())};
  body(kernel, module->context().device());
}

template <typename Body>
CUresult call_with_function(const char* name, CUfunction handle, Body&& body) {
  return call_in_context(name, [&](Context& context) { with_function(handle, context, body); });
}

// Of a launch, whose stream says which context it is. The body also gets the function, and how many multiprocessors the
// stream's part of the device has.
template <typename Body>
CUresult call_with_launch(const char* name, CUfunction handle, const CUlaunchConfig* config, Body&& body) {
  return call(name, [&] {
    require_pointer(config, "no launch configuration");
    require(config->numAttrs == 0 || config->attrs != nullptr, CUDA_ERROR_INVALID_VALUE, "no launch attributes");
    const auto stream = find_stream(config->hStream, NullStream::legacy);
    const auto function = find_function(handle, stream->context());
    with_function(handle, stream->context(), [&](const OccupancyKernel& kernel, const Device& device) {
      const auto* green = stream->green();
      const int multiprocessors =
          green != nullptr ? static_cast<int>(green->multiprocessors().count()) : device.multiprocessors();
      body(*function, kernel, device, multiprocessors);
    });
  });
}

softgpu::abi::Dim3 grid_of(const CUlaunchConfig& config, const Function& function) {
  return runtime::grid_in_blocks(function.facts(), {config.gridDimX, config.gridDimY, config.gridDimZ});
}

std::optional<softgpu::abi::Dim3> requested_cluster(const CUlaunchConfig& config) {
  for (const CUlaunchAttribute& attribute : std::span(config.attrs, config.numAttrs))
    if (const auto& cluster = attribute.value.clusterDim; attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      return runtime::asked_cluster(cluster.x, cluster.y, cluster.z);
  return std::nullopt;
}

CUresult max_active_blocks(const char* name, int* blocks, CUfunction function, int block_size, size_t dynamic_shared,
                           unsigned flags) {
  return call_with_function(name, function, [&](const OccupancyKernel& kernel, const Device& device) {
    require_pointer(blocks);
    require(block_size > 0, CUDA_ERROR_INVALID_VALUE, "a block of no threads");
    require((flags & ~static_cast<unsigned>(CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)) == 0, CUDA_ERROR_INVALID_VALUE,
            "unknown flags");
    *blocks = runtime::max_active_blocks(device.profile(), kernel, block_size, dynamic_shared);
  });
}

CUresult potential_block_size(const char* name, int* grid_size, int* block_size, CUfunction function,
                              CUoccupancyB2DSize dynamic_shared_of, size_t dynamic_shared, int limit, unsigned flags) {
  return call_with_function(name, function, [&](const OccupancyKernel& kernel, const Device& device) {
    require_pointer(grid_size);
    require_pointer(block_size);
    require((flags & ~static_cast<unsigned>(CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)) == 0, CUDA_ERROR_INVALID_VALUE,
            "unknown flags");
    const auto shared = [&](int size) {
      return dynamic_shared_of != nullptr ? dynamic_shared_of(size) : dynamic_shared;
    };
    const runtime::BlockSize best = runtime::best_block_size(device.profile(), kernel, shared, limit);
    *block_size = best.block_size;
    *grid_size = best.blocks_per_multiprocessor * device.multiprocessors();
  });
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int block_size,
                                                     size_t dynamic_shared) {
  return max_active_blocks(__func__, blocks, function, block_size, dynamic_shared, 0);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function, int block_size,
                                                              size_t dynamic_shared, unsigned flags) {
  return max_active_blocks(__func__, blocks, function, block_size, dynamic_shared, flags);
}

CUresult cuOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size, CUfunction function,
                                          CUoccupancyB2DSize dynamic_shared_of, size_t dynamic_shared, int limit) {
  return potential_block_size(__func__, grid_size, block_size, function, dynamic_shared_of, dynamic_shared, limit, 0);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid_size, int* block_size, CUfunction function,
                                                   CUoccupancyB2DSize dynamic_shared_of, size_t dynamic_shared,
                                                   int limit, unsigned flags) {
  return potential_block_size(__func__, grid_size, block_size, function, dynamic_shared_of, dynamic_shared, limit,
                              flags);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* dynamic_shared, CUfunction function, int blocks,
                                                 int block_size) {
  return call_with_function(__func__, function, [&](const OccupancyKernel& kernel, const Device& device) {
    require_pointer(dynamic_shared);
    require(blocks > 0 && block_size > 0, CUDA_ERROR_INVALID_VALUE, "no blocks, or blocks of no threads");
    *dynamic_shared = runtime::available_dynamic_shared(device.profile(), kernel, blocks);
  });
}

// The size that the launch itself asks for does not matter, as long as it is a possible one.
CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunction function, const CUlaunchConfig* config) {
  return call_with_launch(
      __func__, function, config, [&](const Function& launched, const OccupancyKernel&, const Device& device, int) {
        require_pointer(size);
        const auto& facts = launched.facts();
        const auto& settings = launched.settings();
        const auto requested = requested_cluster(*config);
        if (requested || facts.explicit_cluster)
          runtime::cluster_of(facts, settings, grid_of(*config, launched), requested);
        *size = device.profile().has_clusters() ? static_cast<int>(runtime::max_cluster_size(settings)) : 1;
      });
}

// A worker runs a cluster as a whole, so that there is room for one of any size whose blocks fit onto a multiprocessor.
// Of clusters whose size nobody names the driver counts none.
CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function, const CUlaunchConfig* config) {
  return call_with_launch(
      __func__, function, config,
      [&](const Function& launched, const OccupancyKernel& kernel, const Device& device, int multiprocessors) {
        require_pointer(clusters);
        const std::uint64_t threads = std::uint64_t{config->blockDimX} * config->blockDimY * config->blockDimZ;
        require(threads > 0 && threads <= runtime::kMaxThreadsPerBlock, CUDA_ERROR_INVALID_VALUE,
                "a block of no threads, or of more than there can be");
        const runtime::Cluster cluster = runtime::cluster_of(launched.facts(), launched.settings(),
                                                             grid_of(*config, launched), requested_cluster(*config));
        const std::uint64_t size = runtime::blocks_of(cluster.size);
        const std::uint64_t most = device.profile().has_clusters() ? softgpu::abi::kMaxClusterBlocks : 1;
        const int blocks =
            multiprocessors *
            runtime::max_active_blocks(device.profile(), kernel, static_cast<int>(threads), config->sharedMemBytes);
        const bool possible = cluster.is_explicit && blocks > 0 && size <= most;
        *clusters = possible ? std::max(1, blocks / static_cast<int>(size)) : 0;
      });
}

}  // extern "C"
