// External memory: importing it, and buffers and arrays of it.
#include "softgpu/runtime/memory/external_memory.hpp"

#include "softgpu/api/base/reserved.hpp"
#include "softgpu/runtime/memory/array.hpp"

namespace softgpu::api {
namespace {

constexpr unsigned kKnownMemoryFlags = CUDA_EXTERNAL_MEMORY_DEDICATED;

std::shared_ptr<runtime::ExternalMemory> find_external(CUexternalMemory memory) {
  return find(Driver::get().memory().external_memory, memory,
              "not external memory, or external memory that was destroyed");
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuImportExternalMemory(CUexternalMemory* memory, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* request) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(memory);
    require_pointer(request, "no description of the memory");
    require(request->type >= CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD &&
                request->type <= CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD,
            CUDA_ERROR_INVALID_VALUE, "no such type of handle");
    require((request->flags & ~kKnownMemoryFlags) == 0, CUDA_ERROR_INVALID_VALUE, "unknown flags");
    require_zero(request->reserved);
    *memory = Driver::get().memory().external_memory.add(
        runtime::ExternalMemory::import(context.shared_from_this(), request->type, request->handle.fd, request->size));
  });
}

CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr* pointer, CUexternalMemory memory,
                                         const CUDA_EXTERNAL_MEMORY_BUFFER_DESC* request) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(pointer);
    require_pointer(request, "no description of the buffer");
    require_no_flags(request->flags);
    require_zero(request->reserved);
    *pointer =
        runtime::ExternalMemory::map(Driver::get().memory(), find_external(memory), request->offset, request->size);
  });
}

CUresult cuExternalMemoryGetMappedMipmappedArray(CUmipmappedArray* array, CUexternalMemory memory,
                                                 const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC* request) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(array);
    require_pointer(request, "no description of the array");
    require_zero(request->reserved);
    auto& services = Driver::get().memory();
    *array = services.mipmapped_arrays.add(runtime::MipmappedArray::map(
        services, find_external(memory), request->offset, request->arrayDesc, request->numLevels));
  });
}

// Buffers and arrays that are mapped stay.
CUresult cuDestroyExternalMemory(CUexternalMemory memory) {
  return call(__func__, [&] {
    require_pointer(memory, "no external memory");
    require_handle(Driver::get().memory().external_memory.remove(memory) != nullptr, CUDA_ERROR_INVALID_HANDLE,
                   "not external memory, or external memory that was destroyed");
  });
}

}  // extern "C"
