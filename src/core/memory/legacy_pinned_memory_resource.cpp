#include <cuprum/buffer.hpp>
#include <cuprum/device.hpp>
#include <cuprum/legacy_pinned_memory_resource.hpp>

#include "core/base/context.hpp"
#include "core/base/empty_handle.hpp"
#include "core/memory/synchronous_memory.hpp"

namespace cuprum::inline CUPRUM_ABI {

LegacyPinnedMemoryResource::LegacyPinnedMemoryResource()
    : MemoryResource(std::make_shared<core::SynchronousMemory>(std::nullopt)) {}

Buffer LegacyPinnedMemoryResource::allocate(std::size_t size) const {
  return allocate(size, Device().default_stream());
}

void LegacyPinnedMemoryResource::deallocate(DevicePointer pointer, std::size_t) const {
  if (!pointer) return;
  core::ContextGuard guard(core::context_for(Device().device_id()));
  static_cast<const core::SynchronousMemory&>(*core::not_empty(implementation(), "memory resource")).free(pointer);
}

}  // namespace cuprum::inline CUPRUM_ABI
