// Managed memory from a CUDA memory pool: one address for the host and all devices.
//
//   ManagedMemoryResource managed({.preferred_location = 0});
//   ManagedBuffer buffer = managed.allocate(4096, stream);
//   buffer.prefetch(Host(), stream);
#pragma once

#include <cstddef>
#include <cuprum/detail/export.hpp>
#include <cuprum/location.hpp>
#include <cuprum/managed_buffer.hpp>
#include <cuprum/memory_pool.hpp>
#include <iosfwd>
#include <optional>

namespace cuprum::inline CUPRUM_ABI {

/// How ManagedMemoryResourceOptions::preferred_location is meant.
enum class ManagedMemoryLocationType {
  device,     ///< a device's number
  host,       ///< the host's memory, on any NUMA node; there is no number
  host_numa,  ///< the number of a NUMA node of the host
};

/// Prints cuda.core's words: "device", "host", "host_numa".
CUPRUM_API std::ostream& operator<<(std::ostream& out, ManagedMemoryLocationType type);

/// For a pool of one's own.
struct ManagedMemoryResourceOptions {
  /// Where the memory should be. Without preferred_location_type: a device's number, -1 for the host, none for no
  /// preference. With `device`: the device's number. With `host`: none. With `host_numa`: the NUMA node's number, or
  /// none for the node of the current device.
  std::optional<int> preferred_location = {};
  /// None: the number says it all, as above.
  std::optional<ManagedMemoryLocationType> preferred_location_type = {};
};

/// Memory that moves to where it is used, allocated in stream order. On a system without concurrent managed access (see
/// DeviceProperties) the host must not touch any of it while a kernel runs; the first resource that is made there says
/// so to the log hook.
class CUPRUM_API ManagedMemoryResource : public MemoryPool {
 public:
  /// Draws on the driver's current pool for managed memory. Throws NotSupported when there is none, which is so before
  /// CUDA 13 and on systems without concurrent managed access.
  ManagedMemoryResource();

  /// Has a pool of its own. When it is closed, the next resource with the same location gets that pool, set back to how
  /// a new one is, because destroying pools of managed memory is not safe with NVIDIA's driver 580. Throws
  /// InvalidArgument when the location and its type don't fit, NotSupported before CUDA 13.
  explicit ManagedMemoryResource(const ManagedMemoryResourceOptions& options);

  /// As MemoryResource::allocate, in bytes; with the functions for managed memory on the result.
  ManagedBuffer allocate(std::size_t size, const Stream& stream) const;
  /// The same for `count` objects of type T: allocate<float>(1024, stream).
  template <typename T>
  ManagedBuffer allocate(std::size_t count, const Stream& stream) const {
    return allocate(detail::size_in_bytes(count, sizeof(T)), stream);
  }

  /// What the options asked for; none for no preference.
  std::optional<Location> preferred_location() const;

  /// See MemoryResource::as.
  static bool is_kind_of(const MemoryResource& resource);

 private:
  friend class MemoryResource;
  explicit ManagedMemoryResource(std::shared_ptr<MemoryResource::Interface> pool) : MemoryPool(std::move(pool)) {}
};

/// Lets the next ManagedMemoryResource warn again.
CUPRUM_API void reset_concurrent_access_warning();

}  // namespace cuprum::inline CUPRUM_ABI
