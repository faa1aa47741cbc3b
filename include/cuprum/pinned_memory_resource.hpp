// Page-locked host memory from a CUDA memory pool.
//
//   Buffer staging = PinnedMemoryResource().allocate(4096, stream);
//   std::span<float> values = staging.as_span<float>();
#pragma once

#include <cstddef>
#include <cuprum/detail/export.hpp>
#include <cuprum/memory_pool.hpp>
#include <optional>

namespace cuprum::inline CUPRUM_ABI {

/// For a pool of one's own.
struct PinnedMemoryResourceOptions {
  bool ipc_enabled = false;         ///< the pool and its buffers can be shared with other processes
  std::size_t max_size = 0;         ///< bytes that the pool may grow to; 0: as much as there is
  std::optional<int> numa_id = {};  ///< the NUMA node to be on. None: any, or the current device's if ipc_enabled
};

/// Memory that the host and all devices can access, allocated in stream order: from a CUDA memory pool for the host
/// where the driver has those (CUDA 13), else one by one, where freeing waits for the stream.
class CUPRUM_API PinnedMemoryResource : public MemoryPool {
 public:
  /// Draws on the driver's current pool for the host.
  PinnedMemoryResource();

  /// Makes a pool of its own. Throws NotSupported when the driver or the device has no such pools, InvalidArgument for
  /// a negative NUMA node.
  explicit PinnedMemoryResource(const PinnedMemoryResourceOptions& options);

  /// As DeviceMemoryResource::from_allocation_handle: the handle must be of host memory.
  static PinnedMemoryResource from_allocation_handle(const IPCAllocationHandle& handle);
  /// The same with a bare file descriptor, which stays the caller's. Less can be checked.
  static PinnedMemoryResource from_allocation_handle(int file_descriptor);
  /// As DeviceMemoryResource::from_registry: the resource must be one of host memory.
  static PinnedMemoryResource from_registry(const Uuid& uuid);
  /// As DeviceMemoryResource::register_as.
  PinnedMemoryResource register_as(const Uuid& uuid) const;

  /// The NUMA node of the pool; none when the system chooses.
  std::optional<int> numa_id() const;

  /// See MemoryResource::as.
  static bool is_kind_of(const MemoryResource& resource);

 private:
  friend class MemoryResource;
  explicit PinnedMemoryResource(std::shared_ptr<MemoryResource::Interface> pool) : MemoryPool(std::move(pool)) {}
};

}  // namespace cuprum::inline CUPRUM_ABI
