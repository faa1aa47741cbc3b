// A device's memory from a CUDA memory pool: the resource that devices use by default.
//
//   DeviceMemoryResource pool(device, {.max_size = 1 << 30});
//   pool.peer_accessible_by().add(other_device);
//   Buffer buffer = pool.allocate(4096, stream);
#pragma once

#include <cstddef>
#include <cuprum/detail/export.hpp>
#include <cuprum/memory_pool.hpp>
#include <cuprum/peer_accessible_by.hpp>
#include <vector>

namespace cuprum::inline CUPRUM_ABI {

class Device;

/// For a pool of one's own.
struct DeviceMemoryResourceOptions {
  bool ipc_enabled = false;  ///< the pool and its buffers can be shared with other processes
  std::size_t max_size = 0;  ///< bytes that the pool may grow to; 0: as much as there is
};

/// Memory of one device, allocated in stream order. A cheap handle as every MemoryResource is; threads may share it.
class CUPRUM_API DeviceMemoryResource : public MemoryPool {
 public:
  /// Draws on the device's current pool: the default one, unless somebody set another with cuDeviceSetMemPool.
  explicit DeviceMemoryResource(const Device& device);

  /// Makes a pool of its own. Throws NotSupported when the device has no pools, or none that can be shared.
  DeviceMemoryResource(const Device& device, const DeviceMemoryResourceOptions& options);

  /// The pool of another process, to import its buffers from; nothing can be allocated from it. A handle with a UUID is
  /// imported once: as long as somebody holds the resource, later calls give the same. Throws InvalidArgument when the
  /// handle is closed, of another device, of host memory, or of this very process; DriverError when the driver does not
  /// take it for a pool.
  static DeviceMemoryResource from_allocation_handle(const Device& device, const IPCAllocationHandle& handle);

  /// The same with a bare file descriptor, which stays the caller's. Less can be checked.
  static DeviceMemoryResource from_allocation_handle(const Device& device, int file_descriptor);

  /// The resource that is registered by this UUID: imported by a handle that has it, or by register_as. Throws
  /// InvalidArgument when there is none, or when it is not a device's.
  static DeviceMemoryResource from_registry(const Uuid& uuid);

  /// Registers a shared resource by a UUID, until the last handle goes, and returns the one that is registered by it:
  /// another one, if that was first. Throws InvalidArgument when it is not shared or has another UUID already.
  DeviceMemoryResource register_as(const Uuid& uuid) const;

  /// The other devices that can access the pool's memory.
  PeerAccessibleBySet peer_accessible_by() const;

  /// Lets these devices access the pool's memory, and no others; by one call of the driver, if any. Throws
  /// InvalidArgument, and changes nothing, when one of them can't.
  void set_peer_accessible_by(const std::vector<Device>& devices) const;

  /// See MemoryResource::as.
  static bool is_kind_of(const MemoryResource& resource);

 private:
  friend class MemoryResource;
  explicit DeviceMemoryResource(std::shared_ptr<MemoryResource::Interface> pool) : MemoryPool(std::move(pool)) {}
};

}  // namespace cuprum::inline CUPRUM_ABI
