#include <atomic>
#include <cuprum/device.hpp>
#include <cuprum/error.hpp>
#include <cuprum/managed_memory_resource.hpp>

#include "core/base/device_facts.hpp"
#include "core/base/empty_handle.hpp"
#include "core/memory/buffer_resource.hpp"
#include "core/memory/location.hpp"
#include "core/memory/memory_pool.hpp"
#include "support/log.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {
namespace {

using core::PoolPlace;
using support::text;

std::atomic<bool> has_warned{false};

// A fact about the system, so any device can tell.
bool has_concurrent_access() {
  int value = 0;
  driver::call<&driver::Api::cuDeviceGetAttribute>(&value, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 0);
  return value != 0;
}

void warn_without_concurrent_access() {
  if (has_warned || has_concurrent_access() || has_warned.exchange(true)) return;
  support::log(
      "managed memory: this system has no concurrent managed access. While any kernel runs, the host must not touch "
      "any "
      "managed memory, also none that the kernel doesn't use: synchronise before, or the process is killed");
}

PoolPlace managed(CUmemLocationType type, int id) { return {{type, id}, CU_MEM_ALLOCATION_TYPE_MANAGED}; }

PoolPlace no_preference() { return managed(CU_MEM_LOCATION_TYPE_NONE, 0); }

PoolPlace preferring_device(int device) {
  return managed(CU_MEM_LOCATION_TYPE_DEVICE, core::device_facts(device).device);
}

PoolPlace preferring_host() { return managed(CU_MEM_LOCATION_TYPE_HOST, 0); }

PoolPlace preferring_numa_node(std::optional<int> node) {
  if (node) {
    if (*node >= 0) return managed(CU_MEM_LOCATION_TYPE_HOST_NUMA, *node);
    throw InvalidArgument(text("preferred_location ", *node,
                               ": with preferred_location_type host_numa it must be the number of a NUMA node, 0 and "
                               "up, or none for the node of the current device"));
  }
  const Device device;
  const int nearest = device.properties().host_numa_id();
  if (nearest < 0) {
    throw NotSupported(text(device, " does not say which NUMA node is next to it; give one by preferred_location"));
  }
  return managed(CU_MEM_LOCATION_TYPE_HOST_NUMA, nearest);
}

PoolPlace place_without_type(std::optional<int> location) {
  if (!location) return no_preference();
  if (*location == -1) return preferring_host();
  if (*location < 0) {
    throw InvalidArgument(text("preferred_location ", *location,
                               ": it must be the number of a device, -1 for the host, or none for no preference"));
  }
  return preferring_device(*location);
}

PoolPlace place_of(const ManagedMemoryResourceOptions& options) {
  const std::optional<int> location = options.preferred_location;
  if (!options.preferred_location_type) return place_without_type(location);
  if (*options.preferred_location_type == ManagedMemoryLocationType::host_numa) return preferring_numa_node(location);
  if (*options.preferred_location_type == ManagedMemoryLocationType::host) {
    if (!location) return preferring_host();
    throw InvalidArgument(text("preferred_location ", *location,
                               ": with preferred_location_type host it must be none; for a NUMA node use host_numa"));
  }
  if (location && *location >= 0) return preferring_device(*location);
  throw InvalidArgument(text("preferred_location ", location ? text(*location) : "none",
                             ": with preferred_location_type device it must be the number of a device"));
}

void require_pools() {
  if (driver::api().cuMemGetMemPool.function) return;
  throw NotSupported("a ManagedMemoryResource needs a driver of CUDA 13.0 or newer");
}

std::shared_ptr<detail::PoolMemory> default_pool() {
  require_pools();
  CUmemoryPool pool = nullptr;
  try {
    pool = core::current_pool(no_preference());
  } catch (const NotSupported& error) {
    if (has_concurrent_access()) throw;
    throw NotSupported(
        text("there is no default pool of managed memory on a system without concurrent managed access; "
             "use ManagedMemoryResource with options, which makes a pool of its own (",
             error.what(), ")"));
  }
  warn_without_concurrent_access();
  return core::use_pool(pool, no_preference());
}

std::shared_ptr<detail::PoolMemory> own_pool(const ManagedMemoryResourceOptions& options) {
  const PoolPlace place = place_of(options);
  require_pools();
  warn_without_concurrent_access();
  return core::create_pool(place, 0, false);
}

}  // namespace

ManagedMemoryResource::ManagedMemoryResource() : MemoryPool(default_pool()) {}

ManagedMemoryResource::ManagedMemoryResource(const ManagedMemoryResourceOptions& options)
    : MemoryPool(own_pool(options)) {}

ManagedBuffer ManagedMemoryResource::allocate(std::size_t size, const Stream& stream) const {
  return detail::allocate_buffer<ManagedBuffer>(core::not_empty(implementation(), "memory resource"), size, stream);
}

std::optional<Location> ManagedMemoryResource::preferred_location() const {
  return core::location_of(pool()->place().location);
}

void reset_concurrent_access_warning() { has_warned = false; }

}  // namespace cuprum::inline CUPRUM_ABI
