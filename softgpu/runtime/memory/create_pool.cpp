#include "softgpu/runtime/memory/create_pool.hpp"

#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/base/location.hpp"
#include "softgpu/runtime/memory/memory_pool.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"
#include "softgpu/runtime/memory/pool_sharing.hpp"

namespace softgpu::runtime {

std::shared_ptr<MemoryPool> create_pool(const MemoryServices& services, const CUmemPoolProps& properties) {
  CUmemPoolProps checked = properties;
  checked.location = pool_location(properties.location, properties.allocType, services.devices);
  const bool on_device =
      checked.allocType == CU_MEM_ALLOCATION_TYPE_PINNED && checked.location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  const auto& heap = on_device ? services.heap_of(checked.location) : services.host_heap;
  return std::make_shared<MemoryPool>(services.devices, shareable_heap(heap, checked), checked);
}

CUmemLocation pool_location(const CUmemLocation& location, CUmemAllocationType type, const Devices& devices) {
  require(type == CU_MEM_ALLOCATION_TYPE_PINNED || type == CU_MEM_ALLOCATION_TYPE_MANAGED, CUDA_ERROR_INVALID_VALUE,
          "no such type of allocation");
  if (location.type == CU_MEM_LOCATION_TYPE_NONE && type == CU_MEM_ALLOCATION_TYPE_MANAGED) return {};
  require(location.type != CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, CUDA_ERROR_INVALID_VALUE,
          "a pool is on a certain node of host memory, or on none");
  return checked_location(location, devices);
}

}  // namespace softgpu::runtime
