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

namespace cuprum {

class Device;

struct DeviceMemoryResourceOptions {
  bool ipc_enabled = false;  ///< the pool and its buffers can be shared with other processes
  std::size_t max_size = 0;  ///< bytes that the pool may grow to; 0: as much as there is
};

class CUPRUM_API DeviceMemoryResource : public MemoryPool {
 public:
  /// Draws on the device's current pool: the default one, unless somebody set another with cuDeviceSetMemPool.
  explicit DeviceMemoryResource(const Device& device);

  /// Makes a pool of its own. Throws NotSupported when the device has no pools, or none that can be shared.
  DeviceMemoryResource(const Device& device, const DeviceMemoryResourceOptions& options);

  /// The other devices that can access the pool's memory.
  PeerAccessibleBySet peer_accessible_by() const;

  /// Lets these devices access the pool's memory, and no others; by one call of the driver, if any. Throws
  /// InvalidArgument, and changes nothing, when one of them can't.
  void set_peer_accessible_by(const std::vector<Device>& devices) const;
};

}  // namespace cuprum
