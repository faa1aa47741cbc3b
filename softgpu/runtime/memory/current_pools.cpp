#include "softgpu/runtime/memory/current_pools.hpp"

#include "softgpu/runtime/base/location.hpp"
#include "softgpu/runtime/memory/create_pool.hpp"
#include "softgpu/runtime/memory/memory_pool.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"

namespace softgpu::runtime {
namespace {

constexpr CUmemAllocationType kPinned = CU_MEM_ALLOCATION_TYPE_PINNED;

}  // namespace

std::shared_ptr<MemoryPool> CurrentPools::make_default(const CUmemLocation& location, CUmemAllocationType type) {
  CUmemPoolProps properties{};
  properties.allocType = type;
  properties.location = location;
  auto pool = create_pool(services_, properties);
  pool->mark_default();
  pool->set_handle(services_.pools.add(pool));
  return pool;
}

CurrentPools::Pools& CurrentPools::pools_of(const CUmemLocation& location, CUmemAllocationType type) {
  const CUmemLocation place = pool_location(location, type, services_.devices);
  Pools& pools = pools_[{type, place.type, place.id}];
  if (pools.by_default == nullptr) pools.by_default = pools.current = make_default(place, type);
  return pools;
}

std::shared_ptr<MemoryPool> CurrentPools::default_of(const CUmemLocation& location, CUmemAllocationType type) {
  const std::scoped_lock lock(mutex_);
  return pools_of(location, type).by_default;
}

std::shared_ptr<MemoryPool> CurrentPools::current(const CUmemLocation& location, CUmemAllocationType type) {
  const std::scoped_lock lock(mutex_);
  return pools_of(location, type).current;
}

void CurrentPools::set_current(const CUmemLocation& location, CUmemAllocationType type,
                               std::shared_ptr<MemoryPool> pool) {
  require(pool->type() == type && pool->location() == pool_location(location, type, services_.devices),
          CUDA_ERROR_INVALID_VALUE, "the pool is of another location or type");
  require(pool->imported_heap() == nullptr, CUDA_ERROR_INVALID_VALUE, "nothing can be allocated from an imported pool");
  const std::scoped_lock lock(mutex_);
  pools_of(location, type).current = std::move(pool);
}

void CurrentPools::forget(const MemoryPool& pool) {
  const std::scoped_lock lock(mutex_);
  for (auto& [key, pools] : pools_)
    if (pools.current.get() == &pool) pools.current = pools.by_default;
}

std::shared_ptr<MemoryPool> CurrentPools::default_of_device(CUdevice device) {
  return default_of(location_of_device(device), kPinned);
}

std::shared_ptr<MemoryPool> CurrentPools::current_of_device(CUdevice device) {
  return current(location_of_device(device), kPinned);
}

void CurrentPools::set_current_of_device(CUdevice device, std::shared_ptr<MemoryPool> pool) {
  set_current(location_of_device(device), kPinned, std::move(pool));
}

}  // namespace softgpu::runtime
