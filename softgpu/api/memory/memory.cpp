// Allocating memory, and what is known about a pointer's.
#include "softgpu/api/base/call.hpp"
#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/graphs/submit.hpp"

namespace softgpu::api {
namespace {

using memory::Allocation;
using memory::Kind;
using runtime::to_device;
using runtime::to_pointer;

constexpr std::size_t kPitchAlignment = 512;

Allocation allocation_of(const void* pointer,
                         const char* message = "the pointer does not point to memory of the driver") {
  auto found = Driver::get().memory().allocations.find(pointer);
  require(found.has_value(), CUDA_ERROR_INVALID_VALUE, message);
  return *std::move(found);
}

Allocation host_allocation_of(const void* pointer) {
  Allocation found = allocation_of(pointer, "the pointer does not point to page-locked host memory");
  require(found.kind == Kind::host || found.kind == Kind::registered, CUDA_ERROR_INVALID_VALUE,
          "the pointer does not point to page-locked host memory");
  return found;
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  return call_in_context(__func__, [&](const Context& context) {
    const auto& heap = *context.device().heap();
    if (free != nullptr) *free = heap.capacity() - std::min(heap.capacity(), heap.used());
    if (total != nullptr) *total = heap.capacity();
  });
}

CUresult cuMemAlloc_v2(CUdeviceptr* pointer, size_t bytes) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(pointer);
    *pointer = runtime::allocate_device(Driver::get().memory(), context, bytes);
  });
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* pointer, size_t* pitch, size_t width, size_t height, unsigned element_bytes) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(pointer);
    require_pointer(pitch);
    require(width != 0 && height != 0, CUDA_ERROR_INVALID_VALUE, "an allocation of 0 bytes");
    require(element_bytes == 4 || element_bytes == 8 || element_bytes == 16, CUDA_ERROR_INVALID_VALUE,
            "an element has 4, 8 or 16 bytes");
    const std::size_t row = memory::round_up(width, kPitchAlignment);
    require(row >= width && height <= SIZE_MAX / row, CUDA_ERROR_OUT_OF_MEMORY);
    *pointer = runtime::allocate_device(Driver::get().memory(), context, row * height);
    *pitch = row;
  });
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
  return call_in_context(__func__, [&](Context&) {
    if (pointer != 0) runtime::free_any_device(Driver::get().graphs(), pointer);
  });
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr pointer) {
  return call_in_context(__func__, [&](Context&) {
    const auto found = Driver::get().memory().allocations.find(to_pointer(pointer));
    require(found.has_value(), CUDA_ERROR_NOT_FOUND, "the pointer does not point to memory of the driver");
    if (base != nullptr) *base = to_device(found->base);
    if (bytes != nullptr) *bytes = found->size;
  });
}

CUresult cuMemAllocHost_v2(void** pointer, size_t bytes) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(pointer);
    *pointer = runtime::allocate_host(Driver::get().memory(), context, bytes, 0);
  });
}

CUresult cuMemHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(pointer);
    *pointer = runtime::allocate_host(Driver::get().memory(), context, bytes, flags);
  });
}

CUresult cuMemFreeHost(void* pointer) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(pointer, "no memory to free");
    runtime::free_host(Driver::get().memory(), pointer);
  });
}

CUresult cuMemHostRegister_v2(void* pointer, size_t bytes, unsigned flags) {
  return call_in_context(__func__, [&](Context& context) {
    runtime::register_host(Driver::get().memory(), context, pointer, bytes, flags);
  });
}
CUresult cuMemHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return cuMemHostRegister_v2(pointer, bytes, flags);
}

CUresult cuMemHostUnregister(void* pointer) {
  return call_in_context(__func__, [&](Context&) { runtime::unregister_host(Driver::get().memory(), pointer); });
}

// The same address on both sides.
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* device_pointer, void* pointer, unsigned flags) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(device_pointer);
    require(flags == 0, CUDA_ERROR_INVALID_VALUE, "flags must be 0");
    host_allocation_of(pointer);
    *device_pointer = to_device(pointer);
  });
}

CUresult cuMemHostGetFlags(unsigned* flags, void* pointer) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(flags);
    *flags = host_allocation_of(pointer).flags;
  });
}

}  // extern "C"
