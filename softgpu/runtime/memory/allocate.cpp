#include <sys/mman.h>

#include <limits>
#include <optional>

#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/memory/external_memory.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"
#include "softgpu/runtime/memory/memory_pool.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"
#include "softgpu/runtime/work/context.hpp"
#include "softgpu/runtime/work/stream_capture.hpp"

namespace softgpu::runtime {
namespace {

memory::Heap& heap_of(const MemoryServices& services, memory::Kind kind, int device) {
  return kind == memory::Kind::device ? *services.devices.at(device).heap() : *services.host_heap;
}

std::byte* allocate(MemoryServices& services, Context& context, std::size_t bytes, memory::Kind kind, unsigned flags,
                    memory::FreedBy freed_by = memory::FreedBy::freeing) {
  require_unsafe_calls_allowed();
  require(bytes != 0, CUDA_ERROR_INVALID_VALUE, "an allocation of 0 bytes");
  const int device = context.device().ordinal();
  std::byte* base = with_reclaiming(services, [&] { return heap_of(services, kind, device).allocate(bytes); });
  services.allocations.insert({.base = base,
                               .size = bytes,
                               .kind = kind,
                               .device = device,
                               .flags = flags,
                               .context = context.id(),
                               .freed_by = freed_by});
  return base;
}

// The allocation that starts here, no longer in the table, with nothing under way that could use it.
memory::Allocation take(MemoryServices& services, const void* base, bool host) {
  memory::AllocationTable& allocations = services.allocations;
  const auto acceptable = [host](const memory::Allocation& allocation) {
    const bool is_host = allocation.kind == memory::Kind::host;
    const bool is_freed =
        allocation.freed_by == memory::FreedBy::freeing || allocation.freed_by == memory::FreedBy::freeing_external;
    return is_freed && allocation.kind != memory::Kind::registered && (is_host == host || allocation.pool);
  };
  const std::optional<memory::Allocation> found = allocations.find_base(base);
  require(found && acceptable(*found), CUDA_ERROR_INVALID_VALUE, "the pointer is not the start of an allocation");
  services.work.wait_for_all_contexts();
  std::optional<memory::Allocation> taken = allocations.erase(base);
  require(taken.has_value(), CUDA_ERROR_INVALID_VALUE, "the memory is freed twice");
  return *std::move(taken);
}

}  // namespace

CUdeviceptr allocate_device(MemoryServices& services, Context& context, std::size_t bytes) {
  return to_device(allocate(services, context, bytes, memory::Kind::device, 0));
}

CUdeviceptr allocate_managed(MemoryServices& services, Context& context, std::size_t bytes, unsigned flags) {
  require(flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST, CUDA_ERROR_INVALID_VALUE,
          "managed memory is attached to all streams or to the host");
  return to_device(allocate(services, context, bytes, memory::Kind::managed, flags));
}

void* allocate_host(MemoryServices& services, Context& context, std::size_t bytes, unsigned flags) {
  constexpr unsigned kKnown = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
  require((flags & ~kKnown) == 0, CUDA_ERROR_INVALID_VALUE, "unknown flags");
  if (bytes == 0) return nullptr;
  // The driver reports all of it as mapped since addressing is unified.
  return allocate(services, context, bytes, memory::Kind::host, flags | CU_MEMHOSTALLOC_DEVICEMAP);
}

void release(MemoryServices& services, const memory::Allocation& allocation) {
  if (allocation.kind == memory::Kind::registered) return;
  if (allocation.freed_by == memory::FreedBy::module_unload) return;  // by the module, which a graph may still have
  if (allocation.kind == memory::Kind::managed) services.managed_pages.forget(allocation.base, allocation.size);
  if (allocation.pool)
    allocation.pool->free_now(allocation.base);
  else if (allocation.freed_by == memory::FreedBy::closing)  // another process's, counted there
    services.space.unclaim(allocation.base, allocation.size);
  else if (memory::is_external(allocation.freed_by))
    unmap_external(services.space, allocation);
  else
    heap_of(services, allocation.kind, allocation.device).release(allocation.base, allocation.size);
}

void free_device(MemoryServices& services, CUdeviceptr pointer) {
  require_unsafe_calls_allowed();
  release(services, take(services, to_pointer(pointer), false));
}

void free_host(MemoryServices& services, void* pointer) {
  require_unsafe_calls_allowed();
  release(services, take(services, pointer, true));
}

std::byte* allocate_array(MemoryServices& services, Context& context, std::size_t bytes) {
  return allocate(services, context, bytes, memory::Kind::device, 0, memory::FreedBy::destroying);
}

void free_array(MemoryServices& services, std::byte* base) {
  services.work.wait_for_all_contexts();
  if (const auto taken = services.allocations.erase(base)) release(services, *taken);
}

namespace {

int populate_for_reading(std::uintptr_t first, std::size_t length) {
  constexpr int kPopulateRead = 22;  // MADV_POPULATE_READ of Linux 5.14
  return madvise(reinterpret_cast<void*>(first), length, kPopulateRead);
}

// Whether the pages are there, as the system sees it, which has to lock them. Populating finds those that nobody may
// read, too; a system that can't do that knows at least of pages that are not mapped.
bool is_mapped(const void* pointer, std::size_t bytes) {
  const auto page_of = [](const void* address) {
    return reinterpret_cast<std::uintptr_t>(address) / memory::kPageBytes * memory::kPageBytes;
  };
  const auto start = reinterpret_cast<std::uintptr_t>(pointer);
  const std::uintptr_t first = page_of(pointer), end = start + bytes;
  if (end < start || end > UINTPTR_MAX - memory::kPageBytes) return false;  // behind the last address
  const std::size_t length = memory::round_up(end - first, memory::kPageBytes);
  if (populate_for_reading(first, length) == 0) return true;
  const bool can_populate = populate_for_reading(page_of(&first), memory::kPageBytes) == 0;
  return !can_populate && msync(reinterpret_cast<void*>(first), length, MS_ASYNC) == 0;
}

}  // namespace

void register_host(MemoryServices& services, Context& context, void* pointer, std::size_t bytes, unsigned flags) {
  constexpr unsigned kKnown = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_READ_ONLY;
  require_unsafe_calls_allowed();
  require((flags & CU_MEMHOSTREGISTER_IOMEMORY) == 0, CUDA_ERROR_NOT_SUPPORTED, "softgpu can't register I/O memory");
  require((flags & ~kKnown) == 0, CUDA_ERROR_INVALID_VALUE, "unknown flags");
  require(pointer != nullptr && bytes != 0, CUDA_ERROR_INVALID_VALUE, "nothing to register");
  require(is_mapped(pointer, bytes), CUDA_ERROR_INVALID_VALUE,
          "there is no memory at some of the addresses, or the program may not read it");
  const bool added = services.allocations.insert({.base = static_cast<std::byte*>(pointer),
                                                  .size = bytes,
                                                  .kind = memory::Kind::registered,
                                                  .device = context.device().ordinal(),
                                                  .flags = flags | CU_MEMHOSTREGISTER_DEVICEMAP,
                                                  .context = context.id()});
  require(added, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "the range overlaps memory the driver already knows");
}

void unregister_host(MemoryServices& services, void* pointer) {
  memory::AllocationTable& allocations = services.allocations;
  require_unsafe_calls_allowed();
  require(pointer != nullptr, CUDA_ERROR_INVALID_VALUE);
  const auto found = allocations.find_base(pointer);
  require(found && found->kind == memory::Kind::registered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
          "the pointer is not the start of registered memory");
  services.work.wait_for_all_contexts();
  allocations.erase(pointer);
}

}  // namespace softgpu::runtime
