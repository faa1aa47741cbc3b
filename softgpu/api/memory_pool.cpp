// Stream-ordered memory and its pools.
#include "softgpu/runtime/memory_pool.hpp"

#include "softgpu/api/streams.hpp"
#include "softgpu/runtime/device.hpp"

namespace softgpu::api {
namespace {

using runtime::MemoryPool;

std::shared_ptr<MemoryPool> find_pool(CUmemoryPool handle) {
  auto pool = Driver::get().handles().pools.find(handle);
  require(pool != nullptr, CUDA_ERROR_INVALID_VALUE, "not a memory pool, or one that was destroyed");
  return pool;
}

CUdeviceptr allocate(MemoryPool& pool, std::size_t bytes, CUstream stream, NullStream null) {
  const auto found = find_stream(stream, null);
  return runtime::allocate_async(pool, bytes, *found);
}

std::shared_ptr<MemoryPool> default_pool(const CUmemLocation* location, CUmemAllocationType type) {
  require_pointer(location, "no location");
  Driver& driver = Driver::get();
  if (type == CU_MEM_ALLOCATION_TYPE_MANAGED) return driver.default_managed_pool();
  require(type == CU_MEM_ALLOCATION_TYPE_PINNED, CUDA_ERROR_INVALID_VALUE, "no such type of allocation");
  switch (location->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE: return driver.device(location->id).default_pool();
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT: return driver.default_host_pool();
    default: throw Failure(CUDA_ERROR_INVALID_VALUE, "no such location for a memory pool");
  }
}

bool on_device(const CUmemLocation* location, CUmemAllocationType type) {
  return location != nullptr && type == CU_MEM_ALLOCATION_TYPE_PINNED && location->type == CU_MEM_LOCATION_TYPE_DEVICE;
}

void set_device_pool(CUdevice device, CUmemoryPool pool) {
  const auto found = find_pool(pool);
  require(found->location().type == CU_MEM_LOCATION_TYPE_DEVICE && found->location().id == device,
          CUDA_ERROR_INVALID_VALUE, "the pool is not on this device");
  require(found->imported_heap() == nullptr, CUDA_ERROR_INVALID_VALUE,
          "nothing can be allocated from an imported pool");
  Driver::get().device(device).set_current_pool(found);
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemAllocAsync, _ptsz, (CUdeviceptr * pointer, size_t bytes, CUstream stream), [&] {
  require_pointer(pointer);
  const auto found = find_stream(stream, null_stream);
  *pointer = allocate(*found->context().device().current_pool(), bytes, stream, null_stream);
})

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemAllocFromPoolAsync, _ptsz,
                              (CUdeviceptr * pointer, size_t bytes, CUmemoryPool pool, CUstream stream), [&] {
                                require_pointer(pointer);
                                *pointer = allocate(*find_pool(pool), bytes, stream, null_stream);
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemFreeAsync, _ptsz, (CUdeviceptr pointer, CUstream stream), [&] {
  const auto found = find_stream(stream, null_stream);
  if (pointer != 0) runtime::free_async(pointer, *found);
})

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  return call(__func__, [&] {
    require_pointer(pool);
    require_pointer(properties, "no properties");
    auto created = runtime::create_pool(*properties);
    *pool = Driver::get().handles().pools.add(created);
    created->set_handle(*pool);
  });
}

// Memory that is still allocated from it stays valid.
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return call(__func__, [&] {
    const auto found = find_pool(pool);
    require(!found->is_default(), CUDA_ERROR_INVALID_VALUE, "a default pool can't be destroyed");
    Driver& driver = Driver::get();
    for (int i = 0; i < driver.device_count(); ++i)
      if (driver.device(i).current_pool() == found) driver.device(i).set_current_pool(driver.device(i).default_pool());
    driver.handles().pools.remove(pool);
    found->trim(0);
  });
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes_to_keep) {
  return call(__func__, [&] { find_pool(pool)->trim(bytes_to_keep); });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return call(__func__, [&] {
    require_pointer(value, "no value");
    find_pool(pool)->set_attribute(attribute, value);
  });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return call(__func__, [&] {
    require_pointer(value);
    find_pool(pool)->get_attribute(attribute, value);
  });
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* accesses, size_t count) {
  return call(__func__, [&] {
    const auto found = find_pool(pool);
    require(count == 0 || accesses != nullptr, CUDA_ERROR_INVALID_VALUE, "no access descriptions");
    for (size_t i = 0; i < count; ++i) found->set_access(accesses[i].location, accesses[i].flags);
  });
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  return call(__func__, [&] {
    require_pointer(flags);
    require_pointer(location, "no location");
    *flags = find_pool(pool)->access(*location);
  });
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return call(__func__, [&] {
    require_pointer(pool);
    *pool = Driver::get().device(device).default_pool()->handle();
  });
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return call(__func__, [&] {
    require_pointer(pool);
    *pool = Driver::get().device(device).current_pool()->handle();
  });
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return call(__func__, [&] { set_device_pool(device, pool); });
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return call(__func__, [&] {
    require_pointer(pool);
    *pool = default_pool(location, type)->handle();
  });
}

CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return call(__func__, [&] {
    require_pointer(pool);
    const auto found =
        on_device(location, type) ? Driver::get().device(location->id).current_pool() : default_pool(location, type);
    *pool = found->handle();
  });
}

CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  return call(__func__, [&] {
    require(on_device(location, type), CUDA_ERROR_NOT_SUPPORTED, "softgpu has one pool for each location but a device");
    set_device_pool(location->id, pool);
  });
}

}  // extern "C"
