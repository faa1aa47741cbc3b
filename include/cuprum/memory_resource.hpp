// Memory resources: where buffers come from.
//
//   DeviceMemoryResource pool(device, {.max_size = 1 << 30});
//   Buffer buffer = pool.allocate(4096, stream);
//
// To bring your own, derive from MemoryResource::Interface:
//
//   struct Arena : MemoryResource::Interface { ... };
//   MemoryResource arena(std::make_shared<Arena>());
#pragma once

#include <cstddef>
#include <cuprum/detail/cuda_handles.hpp>
#include <cuprum/detail/export.hpp>
#include <memory>
#include <optional>

namespace cuprum {

class Buffer;
class Device;
class Stream;

/// A cheap handle: copies share one resource. Buffers keep the resource they come from alive, so it may go first.
/// Threads may share it when its Interface allows that, which those of the library do.
class CUPRUM_API MemoryResource {
 public:
  /// What a resource does.
  class CUPRUM_API Interface {
   public:
    virtual ~Interface();

    /// At least `size` bytes (never 0), usable by work queued on `stream` from now on. Throws OutOfMemory or another
    /// Error.
    virtual DevicePointer allocate(std::size_t size, const Stream& stream) = 0;

    /// Takes back what allocate() gave, after the work queued on `stream`. Called from any thread, with any or no
    /// context current, also while the process exits. What it throws goes to the log hook.
    virtual void deallocate(DevicePointer pointer, std::size_t size, const Stream& stream) = 0;

    virtual bool is_device_accessible() const = 0;
    virtual bool is_host_accessible() const = 0;

    /// The device that the memory is on; none for host memory.
    virtual std::optional<int> device_id() const = 0;
  };

  explicit MemoryResource(std::shared_ptr<Interface> implementation);

  /// `size` bytes, usable by work queued on `stream` from now on; on other streams after they waited for it. Freed on
  /// the same stream unless Buffer::close says another. Size 0 gives a buffer without memory. Throws OutOfMemory.
  Buffer allocate(std::size_t size, const Stream& stream) const;

  bool is_device_accessible() const { return implementation_->is_device_accessible(); }
  bool is_host_accessible() const { return implementation_->is_host_accessible(); }
  std::optional<int> device_id() const { return implementation_->device_id(); }

  const std::shared_ptr<Interface>& implementation() const { return implementation_; }

  friend bool operator==(const MemoryResource& a, const MemoryResource& b) {
    return a.implementation_ == b.implementation_;
  }

 private:
  std::shared_ptr<Interface> implementation_;
};

struct DeviceMemoryResourceOptions {
  std::size_t max_size = 0;  ///< bytes that the pool may grow to; 0: as much as there is
};

/// A device's memory, allocated in stream order from a CUDA memory pool: the device's default pool, or one of its own
/// when options are given.
class CUPRUM_API DeviceMemoryResource : public MemoryResource {
 public:
  explicit DeviceMemoryResource(const Device& device);
  DeviceMemoryResource(const Device& device, const DeviceMemoryResourceOptions& options);
};

struct PinnedMemoryResourceOptions {
  std::size_t max_size = 0;  ///< bytes that the pool may grow to; 0: as much as there is
};

/// Page-locked host memory that the host and all devices can access, allocated in stream order: from a CUDA memory pool
/// for the host where the driver has those (CUDA 13), else one by one, where freeing waits for the stream.
class CUPRUM_API PinnedMemoryResource : public MemoryResource {
 public:
  /// Draws on the driver's default pool for the host.
  PinnedMemoryResource();
  explicit PinnedMemoryResource(const PinnedMemoryResourceOptions& options);
};

}  // namespace cuprum
