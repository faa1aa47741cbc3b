// Sharing between processes: memory pools, memory and events.
#include <cstdint>

#include "softgpu/api/base/call.hpp"
#include "softgpu/api/memory/pools.hpp"
#include "softgpu/runtime/memory/ipc_memory.hpp"
#include "softgpu/runtime/memory/pool_sharing.hpp"
#include "softgpu/runtime/work/event.hpp"
#include "softgpu/runtime/work/interprocess_event.hpp"

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
    require_memory_pools();
    auto imported = runtime::import_pool(Driver::get().memory(),
                                         static_cast<int>(reinterpret_cast<std::intptr_t>(descriptor)), type);
    *pool = Driver::get().memory().pools.add(imported);
    imported->set_handle(*pool);
  });
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData* data, CUdeviceptr pointer) {
  return call(__func__, [&] {
    require_pointer(data);
    *data = runtime::export_pointer(Driver::get().memory(), pointer);
  });
}

CUresult cuMemPoolImportPointer(CUdeviceptr* pointer, CUmemoryPool pool, CUmemPoolPtrExportData* data) {
  return call(__func__, [&] {
    require_pointer(pointer);
    require_pointer(data, "no data");
    *pointer = runtime::import_pointer(Driver::get().memory(), *find_pool(pool), *data);
  });
}

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr pointer) {
  return call_in_context(__func__, [&](Context&) {
    require_pointer(handle);
    *handle = runtime::export_memory(Driver::get().memory(), pointer);
  });
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* pointer, CUipcMemHandle handle, unsigned flags) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(pointer);
    require(flags == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, CUDA_ERROR_INVALID_VALUE,
            "flags must be CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS");
    *pointer = runtime::open_memory(Driver::get().memory(), context, handle);
  });
}
CUresult cuIpcOpenMemHandle(CUdeviceptr* pointer, CUipcMemHandle handle, unsigned flags) {
  return cuIpcOpenMemHandle_v2(pointer, handle, flags);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr pointer) {
  return call_in_context(__func__, [&](Context&) { runtime::close_memory(Driver::get().memory(), pointer); });
}

CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event) {
  return call(__func__, [&] {
    require_pointer(handle);
    const auto found = find(Driver::get().work().events, event, "not an event, or one that was destroyed");
    require_healthy(found->context());
    require(found->shared() != nullptr, CUDA_ERROR_INVALID_HANDLE,
            "the event was created without CU_EVENT_INTERPROCESS");
    found->shared()->write_handle(handle);
  });
}

CUresult cuIpcOpenEventHandle(CUevent* event, CUipcEventHandle handle) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(event);
    *event = Driver::get().work().events.add(
        std::make_shared<runtime::Event>(context.shared_from_this(), CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS,
                                         runtime::InterprocessEvent::open(Driver::get().memory().space, &handle)));
  });
}

}  // extern "C"
