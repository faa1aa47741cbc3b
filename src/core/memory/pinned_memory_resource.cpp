#include <cuprum/device.hpp>
#include <cuprum/error.hpp>
#include <cuprum/pinned_memory_resource.hpp>

#include "core/base/device_facts.hpp"
#include "core/base/empty_handle.hpp"
#include "core/memory/default_memory.hpp"
#include "core/memory/memory_pool.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {
namespace {

using core::PoolPlace;
using support::text;

// Pools for the host as a whole can't be shared between processes, those of a NUMA node can.
PoolPlace place_of(const PinnedMemoryResourceOptions& options) {
  if (options.numa_id) return PoolPlace::of_numa_node(Host(*options.numa_id).numa_id().value());
  if (!options.ipc_enabled) return PoolPlace::of_host();
  const Device device;
  const int node = device.properties().host_numa_id();
  if (node < 0) {
    throw NotSupported(text("a host memory pool that is shared with other processes must be on a NUMA node, and ",
                            device, " does not say which is next to it; give one by numa_id"));
  }
  return PoolPlace::of_numa_node(node);
}

std::shared_ptr<detail::PoolMemory> own_pool(const PinnedMemoryResourceOptions& options) {
  const PoolPlace place = place_of(options);
  if (core::device_count() == 0 || !core::device_facts(0).host_memory_pools) {
    throw NotSupported(
        "a host memory pool of its own needs a driver of CUDA 13.0 or newer and a device that supports it; use "
        "PinnedMemoryResource without options, or LegacyPinnedMemoryResource");
  }
  return core::create_pool(place, options.max_size, options.ipc_enabled);
}

}  // namespace

PinnedMemoryResource::PinnedMemoryResource() : MemoryPool(core::default_pinned_memory()) {}

PinnedMemoryResource::PinnedMemoryResource(const PinnedMemoryResourceOptions& options)
    : MemoryPool(own_pool(options)) {}

std::optional<int> PinnedMemoryResource::numa_id() const {
  const auto* pool =
      dynamic_cast<const detail::PoolMemory*>(core::not_empty(implementation(), "memory resource").get());
  if (!pool || pool->place().location.type != CU_MEM_LOCATION_TYPE_HOST_NUMA) return std::nullopt;
  return pool->place().location.id;
}

}  // namespace cuprum::inline CUPRUM_ABI
