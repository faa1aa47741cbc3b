// Page-locked host memory without pools, as all drivers and devices have it.
#pragma once

#include <cstddef>
#include <cuprum/detail/export.hpp>
#include <cuprum/memory_resource.hpp>

namespace cuprum::inline CUPRUM_ABI {

/// Memory that the host and all devices can access, allocated one by one. Allocating is slow, may wait for the device
/// and is not ordered by streams: the memory can be used at once. Freeing waits for the stream, too.
class CUPRUM_API LegacyPinnedMemoryResource : public MemoryResource {
 public:
  /// Costs nothing, and opens no driver.
  LegacyPinnedMemoryResource();

  using MemoryResource::allocate;
  /// Freed after what is queued on the current device's default stream.
  Buffer allocate(std::size_t size) const;

  using MemoryResource::deallocate;
  /// Frees at once: no work may be using the memory.
  void deallocate(DevicePointer pointer, std::size_t size) const;

  /// See MemoryResource::as.
  static bool is_kind_of(const MemoryResource& resource);

 private:
  friend class MemoryResource;
  explicit LegacyPinnedMemoryResource(std::shared_ptr<MemoryResource::Interface> memory)
      : MemoryResource(std::move(memory)) {}
};

}  // namespace cuprum::inline CUPRUM_ABI
