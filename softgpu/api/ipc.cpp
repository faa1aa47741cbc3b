// Sharing between processes: memory pools.
#include <cstdint>

#include "softgpu/api/call.hpp"
#include "softgpu/runtime/pool_sharing.hpp"

namespace softgpu::api {
namespace {

std::shared_ptr<runtime::MemoryPool> find_pool(CUmemoryPool handle) {
  auto pool = Driver::get().handles().pools.find(handle);
  require(pool != nullptr, CUDA_ERROR_INVALID_VALUE, "not a memory pool, or one that was destroyed");
  return pool;
}

void require_no_flags(unsigned long long flags) { require(flags == 0, CUDA_ERROR_INVALID_VALUE, "flags must be 0"); }

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuMemPoolExportToShareableHandle(void* descriptor, CUmemoryPool pool, CUmemAllocationHandleType type,
                                          unsigned long long flags) {
  return call(__func__, [&] {
    require_pointer(descriptor);
    require_no_flags(flags);
    *static_cast<int*>(descriptor) = runtime::export_pool(*find_pool(pool), type);
  });
}

// The descriptor comes as a number in a pointer.
CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* pool, void* descriptor, CUmemAllocationHandleType type,
                                            unsigned long long flags) {
  return call(__func__, [&] {
    require_pointer(pool);
    require_no_flags(flags);
    auto imported = runtime::import_pool(static_cast<int>(reinterpret_cast<std::intptr_t>(descriptor)), type);
    *pool = Driver::get().handles().pools.add(imported);
    imported->set_handle(*pool);
  });
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData* data, CUdeviceptr pointer) {
  return call(__func__, [&] {
    require_pointer(data);
    *data = runtime::export_pointer(pointer);
  });
}

CUresult cuMemPoolImportPointer(CUdeviceptr* pointer, CUmemoryPool pool, CUmemPoolPtrExportData* data) {
  return call(__func__, [&] {
    require_pointer(pointer);
    require_pointer(data, "no data");
    *pointer = runtime::import_pointer(*find_pool(pool), *data);
  });
}

}  // extern "C"
