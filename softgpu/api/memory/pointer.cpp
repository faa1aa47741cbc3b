// Attributes of pointers.
#include <array>

#include "softgpu/api/base/call.hpp"
#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/base/location.hpp"
#include "softgpu/runtime/memory/ipc_memory.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"
#include "softgpu/runtime/memory/memory_pool.hpp"
#include "softgpu/runtime/memory/peer_access.hpp"
#include "softgpu/runtime/work/context.hpp"

namespace softgpu::api {
namespace {

using memory::Allocation;
using memory::Kind;
using runtime::to_device;
using runtime::to_pointer;

bool on_host(const Allocation& allocation) {
  return allocation.kind == Kind::host || allocation.kind == Kind::registered;
}

// What the current context's device may do; without one, what its own may.
memory::Access access_of(const Allocation& allocation) {
  const CUcontext handle = runtime::context_stack::current();
  if (const auto context = Driver::get().work().contexts.find(handle)) return runtime::access_of(*context, allocation);
  return allocation.freed_by == memory::FreedBy::unmapping ? allocation.rights.of(allocation.device)
                                                           : memory::Access::read_write;
}

CUDA_POINTER_ATTRIBUTE_ACCESS_FLAGS access_flags(const Allocation& allocation) {
  switch (access_of(allocation)) {
    case memory::Access::none: return CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE;
    case memory::Access::read: return CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ;
    case memory::Access::read_write: return CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE;
  }
  return CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE;
}

CUcontext context_handle(std::uint64_t id) {
  for (const auto& context : Driver::get().work().contexts.all())
    if (context->id() == id) return context->handle();
  return nullptr;
}

// One attribute: writes it for memory that the driver knows, or its null value when `allocation` is null. The value's
// type is the attribute's, as <cuda.h> documents it.
struct Attribute {
  CUpointer_attribute which;
  void (*write)(const Allocation* allocation, const void* pointer, void* value);
};

template <typename T>
void put(void* value, T what) {
  *static_cast<T*>(value) = what;
}

#define ATTRIBUTE(name, type, known, unknown)                                                                 \
  Attribute {                                                                                                 \
    CU_POINTER_ATTRIBUTE_##name,                                                                              \
        []([[maybe_unused]] const Allocation* a, [[maybe_unused]] const void* pointer, void* value) -> void { \
          put<type>(value, a != nullptr ? static_cast<type>(known) : static_cast<type>(unknown));             \
        }                                                                                                     \
  }

constexpr std::array kAttributes = {
    Attribute{CU_POINTER_ATTRIBUTE_CONTEXT,
              [](const Allocation* a, const void*, void* value) {
                put<CUcontext>(value, a != nullptr ? context_handle(a->context) : nullptr);
              }},
    ATTRIBUTE(MEMORY_TYPE, unsigned, on_host(*a) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE, 0),
    ATTRIBUTE(DEVICE_POINTER, CUdeviceptr, to_device(pointer), 0),
    Attribute{CU_POINTER_ATTRIBUTE_HOST_POINTER,
              [](const Allocation* a, const void* pointer, void* value) {
                // Also for memory that the driver does not know, which is then the program's own.
                const bool host = a == nullptr || a->kind != Kind::device;
                put<const void*>(value, host ? pointer : nullptr);
              }},
    ATTRIBUTE(SYNC_MEMOPS, unsigned, a->synchronous, 0),
    ATTRIBUTE(BUFFER_ID, unsigned long long, a->id, 0),
    ATTRIBUTE(IS_MANAGED, unsigned, a->kind == Kind::managed, 0),
    ATTRIBUTE(DEVICE_ORDINAL, int, a->device, -2),
    ATTRIBUTE(IS_LEGACY_CUDA_IPC_CAPABLE, unsigned, runtime::can_be_exported(*a), 0),
    Attribute{CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
              [](const Allocation* a, const void*, void* value) {
                put<const void*>(value, a != nullptr ? a->base : nullptr);
              }},
    ATTRIBUTE(RANGE_SIZE, size_t, a->size, 0),
    ATTRIBUTE(MAPPED, unsigned, 1, 0),
    ATTRIBUTE(ALLOWED_HANDLE_TYPES, unsigned long long, a->handle_types, 0),
    ATTRIBUTE(IS_GPU_DIRECT_RDMA_CAPABLE, unsigned, 0, 0),
    ATTRIBUTE(ACCESS_FLAGS, unsigned, access_flags(*a), CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE),
    Attribute{CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
              [](const Allocation* a, const void*, void* value) {
                const bool pooled = a != nullptr && a->pool != nullptr;
                put<CUmemoryPool>(value, pooled ? static_cast<runtime::MemoryPool&>(*a->pool).handle() : nullptr);
              }},
    ATTRIBUTE(MAPPING_SIZE, size_t, memory::round_up(a->size, memory::kPageBytes), 0),
    Attribute{CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR,
              [](const Allocation* a, const void*, void* value) {
                put<const void*>(value, a != nullptr ? a->base : nullptr);
              }},
    ATTRIBUTE(MEMORY_BLOCK_ID, unsigned long long, a->id, 0),
    ATTRIBUTE(IS_HW_DECOMPRESS_CAPABLE, unsigned, 0, 0),
};

#undef ATTRIBUTE

const Attribute& attribute_row(CUpointer_attribute which) {
  for (const Attribute& attribute : kAttributes)
    if (attribute.which == which) return attribute;
  throw Failure(which == CU_POINTER_ATTRIBUTE_P2P_TOKENS ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE,
                "no such attribute of a pointer");
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuPointerGetAttribute(void* value, CUpointer_attribute which, CUdeviceptr pointer) {
  return call(__func__, [&] {
    require_pointer(value);
    const Attribute& attribute = attribute_row(which);
    const auto found = Driver::get().memory().allocations.find(to_pointer(pointer));
    require(found.has_value(), CUDA_ERROR_INVALID_VALUE, "the pointer does not point to memory of the driver");
    require(which != CU_POINTER_ATTRIBUTE_HOST_POINTER || found->kind != Kind::device, CUDA_ERROR_INVALID_VALUE,
            "the host has no address for device memory");
    attribute.write(&*found, to_pointer(pointer), value);
  });
}

// Does not fail for memory that the driver does not know.
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** values, CUdeviceptr pointer) {
  return call(__func__, [&] {
    require_pointer(attributes, "no attributes");
    require_pointer(values);
    const auto found = Driver::get().memory().allocations.find(to_pointer(pointer));
    for (unsigned i = 0; i < count; ++i) {
      require_pointer(values[i]);
      attribute_row(attributes[i]).write(found ? &*found : nullptr, to_pointer(pointer), values[i]);
    }
  });
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute which, CUdeviceptr pointer) {
  return call(__func__, [&] {
    require_pointer(value, "no value");
    require(which == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, CUDA_ERROR_INVALID_VALUE, "this attribute can't be set");
    const bool known = Driver::get().memory().allocations.set_synchronous(to_pointer(pointer),
                                                                          *static_cast<const unsigned*>(value) != 0);
    require(known, CUDA_ERROR_INVALID_VALUE, "the pointer does not point to memory of the driver");
  });
}

}  // extern "C"
