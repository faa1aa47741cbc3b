// Virtual memory management.
#include "softgpu/runtime/memory/virtual_memory.hpp"

#include <cstdint>

#include "softgpu/api/base/call.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"

namespace softgpu::api {
namespace {

using runtime::PhysicalMemory;
using runtime::to_device;
using runtime::to_pointer;

std::shared_ptr<PhysicalMemory> find_memory(CUmemGenericAllocationHandle handle) {
  auto memory = PhysicalMemory::find(Driver::get().memory(), handle);
  require(memory != nullptr, CUDA_ERROR_INVALID_VALUE, "not a handle of memory, or one that was released");
  return memory;
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuMemAddressReserve(CUdeviceptr* pointer, size_t bytes, size_t alignment, CUdeviceptr hint,
                             unsigned long long flags) {
  return call(__func__, [&] {
    require_pointer(pointer);
    require_no_flags(flags);
    *pointer = to_device(Driver::get().virtual_memory().reserve(bytes, alignment, to_pointer(hint)));
  });
}

CUresult cuMemAddressFree(CUdeviceptr pointer, size_t bytes) {
  return call(__func__, [&] { Driver::get().virtual_memory().free(to_pointer(pointer), bytes); });
}

CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags option) {
  return call(__func__, [&] {
    require_pointer(granularity);
    require_pointer(properties, "no properties");
    require(option == CU_MEM_ALLOC_GRANULARITY_MINIMUM || option == CU_MEM_ALLOC_GRANULARITY_RECOMMENDED,
            CUDA_ERROR_INVALID_VALUE, "no such granularity");
    *granularity = PhysicalMemory::kGranularity;
  });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes, const CUmemAllocationProp* properties,
                     unsigned long long flags) {
  return call(__func__, [&] {
    require_pointer(handle);
    require_pointer(properties, "no properties");
    require_no_flags(flags);
    *handle = PhysicalMemory::create(Driver::get().memory(), bytes, *properties)->handle();
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return call(__func__, [&] { find_memory(handle)->release(); });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties, CUmemGenericAllocationHandle handle) {
  return call(__func__, [&] {
    require_pointer(properties);
    *properties = find_memory(handle)->properties();
  });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* pointer) {
  return call(__func__, [&] {
    require_pointer(handle);
    const auto memory = Driver::get().virtual_memory().mapped_at(static_cast<const std::byte*>(pointer));
    memory->retain();
    *handle = memory->handle();
  });
}

CUresult cuMemMap(CUdeviceptr pointer, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  return call(__func__, [&] {
    require_no_flags(flags);
    Driver::get().virtual_memory().map(to_pointer(pointer), bytes, offset, find_memory(handle));
  });
}

CUresult cuMemUnmap(CUdeviceptr pointer, size_t bytes) {
  return call(__func__, [&] { Driver::get().virtual_memory().unmap(to_pointer(pointer), bytes); });
}

CUresult cuMemSetAccess(CUdeviceptr pointer, size_t bytes, const CUmemAccessDesc* access, size_t count) {
  return call(__func__, [&] {
    require(access != nullptr && count != 0, CUDA_ERROR_INVALID_VALUE, "no access descriptions");
    Driver::get().virtual_memory().set_access(to_pointer(pointer), bytes, {access, count});
  });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr pointer) {
  return call(__func__, [&] {
    require_pointer(flags);
    require_pointer(location, "no location");
    *flags = Driver::get().virtual_memory().access(to_pointer(pointer), *location);
  });
}

CUresult cuMemExportToShareableHandle(void* descriptor, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
  return call(__func__, [&] {
    require_pointer(descriptor);
    require_no_flags(flags);
    *static_cast<int*>(descriptor) = find_memory(handle)->share(type);
  });
}

// The descriptor comes as a number in a pointer.
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* descriptor,
                                        CUmemAllocationHandleType type) {
  return call(__func__, [&] {
    require_pointer(handle);
    *handle = PhysicalMemory::import(Driver::get().memory(),
                                     static_cast<int>(reinterpret_cast<std::intptr_t>(descriptor)), type)
                  ->handle();
  });
}

}  // extern "C"
