// Memory resources: where buffers come from. The library's own are DeviceMemoryResource, PinnedMemoryResource,
// ManagedMemoryResource, LegacyPinnedMemoryResource and VirtualMemoryResource, each in a header of its name.
//
//   MemoryResource resource = DeviceMemoryResource(device);
//   Buffer buffer = resource.allocate(4096, stream);
//
// To bring your own, derive from MemoryResource::Interface:
//
//   struct Arena : MemoryResource::Interface { ... };
//   MemoryResource arena(std::make_shared<Arena>());
#pragma once

#include <concepts>
#include <cstddef>
#include <cuprum/detail/cuda_handles.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/shared.hpp>
#include <functional>
#include <memory>
#include <optional>

namespace cuprum::core {
struct PointerFacts;
}

namespace cuprum::inline CUPRUM_ABI {

class Buffer;
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
    /// context current, also while the process exits. Where a buffer's destructor is the caller, what it throws goes to
    /// the log hook.
    virtual void deallocate(DevicePointer pointer, std::size_t size, const Stream& stream) = 0;

    /// Whether kernels can use the memory.
    virtual bool is_device_accessible() const = 0;
    /// Whether the host can use the memory.
    virtual bool is_host_accessible() const = 0;

    /// A buffer for MemoryResource::allocate, which has checked nothing. By default one of memory from allocate(), none
    /// when `size` is 0, that goes back to deallocate(). Override it to hand out buffers of your own making: parts of a
    /// larger one, or another resource's. `self` is the handle of this very resource.
    virtual Buffer allocate_buffer(const MemoryResource& self, std::size_t size, const Stream& stream);

    /// Whether the memory is CUDA's managed memory, which moves to where it is used.
    virtual bool is_managed() const { return false; }

    /// The device that the memory is on; none for host memory.
    virtual std::optional<int> device_id() const = 0;

   private:
    friend struct detail::BufferResource;
    /// deallocate() for a buffer that goes away: its stream may have been closed by the user, who then has no handle to
    /// it any more. The library's own resources do without making one.
    virtual void take_back(DevicePointer pointer, std::size_t size, const detail::Kept<detail::StreamResource>& stream);
    /// For resources whose buffers differ: fills in what holds for the memory that begins there. False when the
    /// functions above say it for all.
    virtual bool knows(DevicePointer pointer, core::PointerFacts& facts) const;
  };

  /// An empty handle: all use but comparing, hashing and assigning to it throws InvalidArgument.
  MemoryResource() = default;

  /// One of your own making. Throws InvalidArgument for null.
  explicit MemoryResource(std::shared_ptr<Interface> implementation);

  /// The same resource as one of a kind that has more functions, such as as<DeviceMemoryResource>(); none when it is
  /// not of that kind.
  template <typename Kind>
  std::optional<Kind> as() const {
    return Kind::is_kind_of(*this) ? std::optional<Kind>(Kind(implementation_)) : std::nullopt;
  }

  /// `size` bytes, usable by work queued on `stream` from now on; on other streams after they waited for it. Freed on
  /// the same stream unless Buffer::close or Buffer::set_deallocation_stream says another. Size 0 gives a buffer
  /// without memory. Throws OutOfMemory, whose text says what state the memory is in.
  Buffer allocate(std::size_t size, const Stream& stream) const;

  /// The same for `count` objects of type T: allocate<float>(1024, stream). Throws InvalidArgument for more than there
  /// are addresses.
  template <typename T>
  Buffer allocate(std::size_t count, const Stream& stream) const;

  /// Gives back memory that came from this resource without a Buffer, after the work queued on `stream`. Throws what
  /// the implementation throws, such as DriverError for a pointer that is none of its own.
  void deallocate(DevicePointer pointer, std::size_t size, const Stream& stream) const;

  /// Whether kernels can use the memory.
  bool is_device_accessible() const { return interface().is_device_accessible(); }
  /// Whether the host can use the memory.
  bool is_host_accessible() const { return interface().is_host_accessible(); }
  /// Whether it is CUDA's managed memory, which moves to where it is used.
  bool is_managed() const { return interface().is_managed(); }
  /// The device that the memory is on; none for host memory.
  std::optional<int> device_id() const { return interface().device_id(); }

  /// Null for an empty handle.
  const std::shared_ptr<Interface>& implementation() const { return implementation_; }

  /// Whether both stand for the same resource; empty ones stand for none.
  friend bool operator==(const MemoryResource& a, const MemoryResource& b) {
    return a.implementation_ == b.implementation_;
  }

 private:
  Interface& interface() const;
  std::shared_ptr<Interface> implementation_;
};

namespace detail {
/// Of `count` objects; throws InvalidArgument when that is no size.
CUPRUM_API std::size_t size_in_bytes(std::size_t count, std::size_t size_of_one);
}  // namespace detail

}  // namespace cuprum::inline CUPRUM_ABI

/// By identity, as memory resources are compared.
template <std::derived_from<cuprum::MemoryResource> Resource>
struct std::hash<Resource> {
  std::size_t operator()(const Resource& resource) const noexcept {
    return std::hash<const void*>{}(resource.implementation().get());
  }
};
