// Which kind of memory resource a handle stands for.
#include <cuprum/device_memory_resource.hpp>
#include <cuprum/legacy_pinned_memory_resource.hpp>
#include <cuprum/managed_memory_resource.hpp>
#include <cuprum/pinned_memory_resource.hpp>

#include "core/memory/memory_pool.hpp"
#include "core/memory/synchronous_memory.hpp"

namespace cuprum::inline CUPRUM_ABI {
namespace {

using core::SynchronousMemory;
using detail::PoolMemory;

template <typename Implementation>
const Implementation* implementation_of(const MemoryResource& resource) {
  return dynamic_cast<const Implementation*>(resource.implementation().get());
}

/// Whether it allocates one by one because there are no pools: on a device, or on the host.
bool replaces_pool(const MemoryResource& resource, bool on_device) {
  const auto* memory = implementation_of<SynchronousMemory>(resource);
  return memory && memory->is_in_place_of_pool() && memory->device_id().has_value() == on_device;
}

/// Whether it draws on a pool of memory that stays where it is: on a device, or on the host.
bool is_pool_of(const MemoryResource& resource, bool on_device) {
  const auto* pool = implementation_of<PoolMemory>(resource);
  if (!pool || pool->is_managed()) return false;
  return (pool->place().location.type == CU_MEM_LOCATION_TYPE_DEVICE) == on_device;
}

}  // namespace

bool MemoryPool::is_kind_of(const MemoryResource& resource) {
  return implementation_of<PoolMemory>(resource) || replaces_pool(resource, true) || replaces_pool(resource, false);
}

bool DeviceMemoryResource::is_kind_of(const MemoryResource& resource) {
  return is_pool_of(resource, true) || replaces_pool(resource, true);
}

bool PinnedMemoryResource::is_kind_of(const MemoryResource& resource) {
  return is_pool_of(resource, false) || replaces_pool(resource, false);
}

bool ManagedMemoryResource::is_kind_of(const MemoryResource& resource) {
  const auto* pool = implementation_of<PoolMemory>(resource);
  return pool && pool->is_managed();
}

bool LegacyPinnedMemoryResource::is_kind_of(const MemoryResource& resource) {
  const auto* memory = implementation_of<SynchronousMemory>(resource);
  return memory && !memory->is_in_place_of_pool() && !memory->device_id();
}

}  // namespace cuprum::inline CUPRUM_ABI
