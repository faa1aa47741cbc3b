// Memory by CUDA's virtual memory management: buffers that can grow.
//
//   VirtualMemoryResource resource(device, {.granularity = VirtualMemoryGranularityType::minimum});
//   Buffer buffer = resource.allocate(1 << 20, stream);
//   resource.modify_allocation(buffer, 8 << 20);      // the contents stay
#pragma once

#include <cstddef>
#include <cuprum/detail/cuda_handles.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/location.hpp>
#include <cuprum/memory_resource.hpp>
#include <iosfwd>
#include <optional>
#include <vector>

namespace cuprum::inline CUPRUM_ABI {

class Device;

/// Whether the memory moves.
enum class VirtualMemoryAllocationType {
  pinned,   ///< stays where it is
  managed,  ///< moves to where it is used
};
/// Where the memory is.
using VirtualMemoryLocationType = LocationType;
/// As what memory is exported to other processes.
enum class VirtualMemoryHandleType {
  posix_fd,   ///< a file descriptor
  win32_kmt,  ///< a handle of Windows, and refused elsewhere
  fabric,     ///< a handle for other machines of an NVLink fabric, too
};
/// Which of the driver's two units of allocation to use.
enum class VirtualMemoryGranularityType {
  minimum,      ///< the smallest that the driver takes
  recommended,  ///< the one that is best for speed
};
/// What a device may do with the memory.
enum class VirtualMemoryAccessType {
  read_write,  ///< both
  read,        ///< writing faults
};

/// Prints cuda.core's words: "pinned", "managed".
CUPRUM_API std::ostream& operator<<(std::ostream& out, VirtualMemoryAllocationType type);
/// Prints cuda.core's words: "posix_fd", "win32_kmt", "fabric".
CUPRUM_API std::ostream& operator<<(std::ostream& out, VirtualMemoryHandleType type);
/// Prints cuda.core's words: "minimum", "recommended".
CUPRUM_API std::ostream& operator<<(std::ostream& out, VirtualMemoryGranularityType type);
/// Prints cuda.core's words: "rw", "r".
CUPRUM_API std::ostream& operator<<(std::ostream& out, VirtualMemoryAccessType type);

/// What memory a VirtualMemoryResource allocates, and who may use it.
struct VirtualMemoryResourceOptions {
  /// Whether it moves.
  VirtualMemoryAllocationType allocation_type = VirtualMemoryAllocationType::pinned;
  /// Where the memory is. `host_numa` means the NUMA node that is next to the device.
  VirtualMemoryLocationType location_type = VirtualMemoryLocationType::device;
  /// As what the memory can be exported to other processes; none: not at all. Memory of the host as a whole never can.
  std::optional<VirtualMemoryHandleType> handle_type = VirtualMemoryHandleType::posix_fd;
  /// What sizes are rounded up to.
  VirtualMemoryGranularityType granularity = VirtualMemoryGranularityType::recommended;
  bool gpu_direct_rdma = false;                ///< other hardware is to access the memory
  DevicePointer addr_hint = 0;                 ///< where the memory should appear; 0: anywhere
  std::optional<std::size_t> addr_align = {};  ///< a power of two; none: the granularity
  std::vector<int> peers = {};                 ///< devices that get access besides the one of the resource
  /// What the place of the memory itself may do with it: the device, or the host. None: nothing.
  std::optional<VirtualMemoryAccessType> self_access = VirtualMemoryAccessType::read_write;
  /// What `peers` may do with it; none: nothing.
  std::optional<VirtualMemoryAccessType> peer_access = VirtualMemoryAccessType::read_write;

  bool operator==(const VirtualMemoryResourceOptions&) const = default;
};

/// Addresses and physical memory are got separately and mapped together, so that a buffer can grow without a copy. None
/// of it is ordered by streams: allocated memory can be used at once, and freeing waits for the buffer's stream. A step
/// that fails undoes those before it. Threads may share the resource.
class CUPRUM_API VirtualMemoryResource : public MemoryResource {
 public:
  /// Throws NotSupported when the device lacks what the options ask for.
  explicit VirtualMemoryResource(const Device& device, const VirtualMemoryResourceOptions& options = {});

  using MemoryResource::allocate;
  /// Freed after what is queued on the device's default stream.
  Buffer allocate(std::size_t size) const;

  using MemoryResource::deallocate;
  /// Frees at once: no work may be using the memory.
  void deallocate(DevicePointer pointer, std::size_t size) const;

  /// Makes `buffer`, and with it all its copies, `new_size` bytes large; the contents stay. When the addresses that
  /// follow are free, the buffer grows where it is. Else it gets a new handle(), after a wait for its stream: work on
  /// other streams must be done before. A size that is not larger changes nothing but the access rights. Returns the
  /// buffer.
  ///
  /// Throws InvalidArgument when the buffer is not from this resource. When it throws, the buffer is as it was.
  Buffer modify_allocation(const Buffer& buffer, std::size_t new_size) const;
  /// The same with other options, which are used from now on, for this growth and by allocate().
  Buffer modify_allocation(const Buffer& buffer, std::size_t new_size,
                           const VirtualMemoryResourceOptions& options) const;

  /// What sizes are rounded up to, in bytes.
  std::size_t granularity() const;
  /// Those that allocate() uses now.
  VirtualMemoryResourceOptions options() const;

  /// See MemoryResource::as.
  static bool is_kind_of(const MemoryResource& resource);

 private:
  friend class MemoryResource;
  explicit VirtualMemoryResource(std::shared_ptr<MemoryResource::Interface> memory)
      : MemoryResource(std::move(memory)) {}
};

}  // namespace cuprum::inline CUPRUM_ABI
