// Stream-ordered memory and its pools.
#include "softgpu/runtime/memory/memory_pool.hpp"

#include "softgpu/api/memory/pools.hpp"
#include "softgpu/api/work/streams.hpp"
#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/graphs/submit.hpp"
#include "softgpu/runtime/memory/create_pool.hpp"
#include "softgpu/runtime/work/stream_capture.hpp"

namespace softgpu::api {
namespace {

using runtime::MemoryPool;

runtime::CurrentPools& current_pools() {
  require_memory_pools();
  return Driver::get().current_pools();
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemAllocAsync, _ptsz, (CUdeviceptr * pointer, size_t bytes, CUstream stream), [&] {
  require_pointer(pointer);
  const auto found = find_stream(stream, null_stream);
  *pointer = runtime::submit_allocation(Driver::get().graphs(), *found,
                                        *current_pools().current_of_device(found->context().device().ordinal()), bytes);
})

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemAllocFromPoolAsync, _ptsz,
                              (CUdeviceptr * pointer, size_t bytes, CUmemoryPool pool, CUstream stream), [&] {
                                require_pointer(pointer);
                                const auto found = find_stream(stream, null_stream);
                                *pointer =
                                    runtime::submit_allocation(Driver::get().graphs(), *found, *find_pool(pool), bytes);
                              })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuMemFreeAsync, _ptsz, (CUdeviceptr pointer, CUstream stream), [&] {
  const auto found = find_stream(stream, null_stream);
  if (pointer != 0) runtime::submit_free(Driver::get().graphs(), *found, pointer);
})

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  return call(__func__, [&] {
    require_pointer(pool);
    require_pointer(properties, "no properties");
    require_memory_pools();
    runtime::require_unsafe_calls_allowed();
    auto created = runtime::create_pool(Driver::get().memory(), *properties);
    *pool = Driver::get().memory().pools.add(created);
    created->set_handle(*pool);
  });
}

// Memory that is still allocated from it stays valid.
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return call(__func__, [&] {
    const auto found = find_pool(pool);
    require(!found->is_default(), CUDA_ERROR_INVALID_VALUE, "a default pool can't be destroyed");
    require(found->imported_heap() == nullptr || found->usage().used == 0, CUDA_ERROR_INVALID_VALUE,
            "memory is imported from the pool: free it first");
    current_pools().forget(*found);
    Driver::get().memory().pools.remove(pool);
    found->retire();
  });
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes_to_keep) {
  return call(__func__, [&] {
    const auto found = find_pool(pool);
    runtime::require_unsafe_calls_allowed();
    found->trim(bytes_to_keep);
  });
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
    found->set_access({accesses, count});
    Driver::get().memory().allocations.note_change_of_access();
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
    *pool = current_pools().default_of_device(device)->handle();
  });
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return call(__func__, [&] {
    require_pointer(pool);
    *pool = current_pools().current_of_device(device)->handle();
  });
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return call(__func__, [&] { current_pools().set_current_of_device(device, find_pool(pool)); });
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return call(__func__, [&] {
    require_pointer(pool);
    require_pointer(location, "no location");
    *pool = current_pools().default_of(*location, type)->handle();
  });
}

CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return call(__func__, [&] {
    require_pointer(pool);
    require_pointer(location, "no location");
    *pool = current_pools().current(*location, type)->handle();
  });
}

CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  return call(__func__, [&] {
    require_pointer(location, "no location");
    current_pools().set_current(*location, type, find_pool(pool));
  });
}

}  // extern "C"
