// Buffers: owning handles to memory.
//
//   Buffer device_data = device.allocate(n * sizeof(float), stream);
//   device_data.copy_from(values, stream);                // values: std::vector<float> of n elements
//   device_data.slice(0, 16).fill<float>(0, stream);       // the first four of them
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cuprum/copy_options.hpp>
#include <cuprum/detail/cuda_handles.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/shared.hpp>
#include <cuprum/memory_resource.hpp>
#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <type_traits>

namespace cuprum::inline CUPRUM_ABI {

class Buffer;
class IPCBufferDescriptor;
class MemoryPool;
class Stream;

namespace detail {
/// Keeps a buffer's memory, for what is given the buffer. Throws InvalidArgument when it is closed or empty.
Kept<BufferResource> keep_memory(const Buffer& buffer);
/// The same without keeping: for those who keep it already. Memory that another thread closes between this and its use
/// may be gone then.
DevicePointer address_of(const Buffer& buffer);
[[noreturn]] CUPRUM_API void refuse_buffer(const Buffer& buffer);

template <typename T>
concept Copyable = std::is_trivially_copyable_v<T>;

template <typename T>
concept Pattern = Copyable<T> && (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4);

template <typename T>
inline constexpr bool is_span = false;
template <typename T, std::size_t Extent>
inline constexpr bool is_span<std::span<T, Extent>> = true;

/// What a std::span can be made of without saying more: containers, arrays, strings.
template <typename T>
concept ContiguousRange =
    !is_span<std::remove_cvref_t<T>> && !std::derived_from<std::remove_cvref_t<T>, Buffer> && requires(T& range) {
      std::span(range);
      requires Copyable<typename decltype(std::span(range))::element_type>;
    };

template <typename T>
concept WritableRange = ContiguousRange<T> && requires(T& range) {
  requires !std::is_const_v<typename decltype(std::span(range))::element_type>;
};
}  // namespace detail

/// A cheap handle: copies share one allocation, which is freed in the order of its stream when the last copy goes or at
/// close(). A buffer keeps its memory resource and that stream alive. Threads may share it, except that
/// VirtualMemoryResource::modify_allocation must not run while another thread uses it.
/// Made by Device::allocate and MemoryResource::allocate.
///
/// All work with the contents is asynchronous: it is queued on the given stream and the calls return at once. A buffer
/// that goes away is freed after what is queued on its own stream; work on other streams must be done, or be waited for
/// by that stream, before.
class CUPRUM_API Buffer {
 public:
  /// An empty handle, for a variable that gets its value later; to use it before throws InvalidArgument.
  Buffer() = default;

  /// Wraps `size` bytes at `pointer` that somebody else owns. They must stay valid as long as the buffer is used;
  /// `owner` is kept alive for that time.
  static Buffer from_handle(DevicePointer pointer, std::size_t size, std::shared_ptr<void> owner = nullptr);

  /// Takes over `size` bytes at `pointer`: `resource` gets them back after what is then queued on `stream`. Without a
  /// stream it is the default stream of the resource's device, or of the current one.
  static Buffer from_handle(DevicePointer pointer, std::size_t size, const MemoryResource& resource);
  /// The same with a stream.
  static Buffer from_handle(DevicePointer pointer, std::size_t size, const MemoryResource& resource,
                            const Stream& stream);

  /// Maps a buffer of another process. `resource` must be that process's pool, imported; the buffer keeps it alive and
  /// is unmapped after what is then queued on `stream`. Imported again it has the same address. Orders nothing: wait
  /// for what the other process does with it by an event. Throws InvalidArgument when the descriptor is of another pool
  /// or device, of this very process, or says more bytes than there are; DriverError when the driver does not know it.
  static Buffer from_ipc_descriptor(const MemoryPool& resource, const IPCBufferDescriptor& descriptor,
                                    const Stream& stream);

  /// For other processes, which can map the buffer by it as long as this one keeps it. Throws InvalidArgument unless
  /// its memory resource is one that is_ipc_enabled().
  IPCBufferDescriptor ipc_descriptor() const;

  /// Copies the whole of `source`, which must be of the same size. Both buffers must stay open until the copy has run.
  void copy_from(const Buffer& source, const Stream& stream) const;

  /// Copies the whole buffer to `destination`, which must be of the same size, and returns that.
  Buffer copy_to(const Buffer& destination, const Stream& stream) const;

  /// Copies the buffer to a new one from the same memory resource.
  Buffer copy_to(const Stream& stream) const;

  /// copy_from() with options, which a driver before CUDA 13.2 ignores: it reads the source in stream order. Throws
  /// NotSupported there for MemcpySrcAccessOrder::during_api_call, because the caller relies on it. Throws
  /// InvalidArgument for the legacy default stream, which the driver refuses, and while the stream is being captured,
  /// because graphs don't have these options.
  void copy_from(const Buffer& source, const Stream& stream, const CopyOptions& options) const;
  /// copy_to() with options, in the same way.
  Buffer copy_to(const Buffer& destination, const Stream& stream, const CopyOptions& options) const;
  /// copy_to() a new buffer with options, in the same way.
  Buffer copy_to(const Stream& stream, const CopyOptions& options) const;

  /// Copies from ordinary host memory of the same size in bytes. Pageable memory has been read when this returns; page-
  /// locked memory must stay as it is until the copy has run.
  template <detail::Copyable T, std::size_t Extent>
  void copy_from(std::span<T, Extent> source, const Stream& stream) const {
    copy_from_host(source.data(), source.size_bytes(), stream);
  }

  /// Copies to ordinary host memory of the same size in bytes. The contents are there after the next stream.sync().
  template <detail::Copyable T, std::size_t Extent>
    requires(!std::is_const_v<T>)
  void copy_to(std::span<T, Extent> destination, const Stream& stream) const {
    copy_to_host(destination.data(), destination.size_bytes(), stream);
  }

  /// Copies from any range whose elements lie one after the other, a std::vector, a std::array or an array, as from a
  /// span.
  template <detail::ContiguousRange Range>
  void copy_from(const Range& source, const Stream& stream) const {
    copy_from(std::span(source), stream);
  }
  /// Copies to such a range, as to a span.
  template <detail::WritableRange Range>
  void copy_to(Range& destination, const Stream& stream) const {
    copy_to(std::span(destination), stream);
  }

  /// A part of the buffer: `size` bytes from `offset` on, as a buffer that can be used as any other can. It keeps the
  /// memory, which it shares with this one, and has the same memory resource. Orders nothing. A part does not move when
  /// VirtualMemoryResource::modify_allocation moves the whole: make it anew then. Throws InvalidArgument when it would
  /// reach outside the buffer.
  Buffer slice(std::size_t offset, std::size_t size) const;

  /// Fills the buffer with copies of a value of 1, 2 or 4 bytes, of which the size must be a multiple. The type must be
  /// named, because it says how many bytes are repeated: fill<int>(1, stream), fill<std::uint8_t>(0xff, stream).
  template <detail::Pattern T>
  void fill(std::type_identity_t<T> value, const Stream& stream) const {
    fill_pattern(&value, sizeof(T), stream);
  }

  /// The same with the bytes of a span, which must be 1, 2 or 4 and are read before this returns.
  template <detail::Copyable T, std::size_t Extent>
  void fill(std::span<T, Extent> pattern, const Stream& stream) const {
    fill_pattern(pattern.data(), pattern.size_bytes(), stream);
  }

  /// The contents, for a buffer that the host can access. The first call waits until the stream has reached the
  /// allocation; for what was queued since, sync() the stream before touching the contents. The size must be a multiple
  /// of T's.
  template <detail::Copyable T>
  std::span<T> as_span() const {
    return {static_cast<T*>(host_view(sizeof(T), alignof(T))), size() / sizeof(T)};
  }

  /// The address; 0 when the buffer is closed or empty.
  DevicePointer handle() const noexcept;
  /// In bytes, as it was asked for.
  std::size_t size() const;
  /// Whether kernels can use the memory.
  bool is_device_accessible() const;
  /// Whether the host can: as_span() needs that.
  bool is_host_accessible() const;
  /// Whether it is CUDA's managed memory, which moves to where it is used.
  bool is_managed() const;
  /// Whether the memory is another process's, imported into this one.
  bool is_mapped() const;
  /// The device that the memory is on; none for host memory.
  std::optional<int> device_id() const;
  /// None for a wrapped buffer.
  std::optional<MemoryResource> memory_resource() const;
  /// What from_handle() was given to keep alive; null without.
  std::shared_ptr<void> owner() const;
  /// Whether something else holds the memory, too: a copy of this handle, a part, a view, a graph, a call that runs.
  bool is_shared() const noexcept;

  /// Makes the memory, of a part that of the whole, be freed after what is queued on `stream` then. Orders nothing now:
  /// what is queued on other streams must be done, or be waited for by `stream`, before the buffer goes.
  void set_deallocation_stream(const Stream& stream) const;

  /// Ends the buffer for all copies; later use throws InvalidArgument. Closing twice does nothing. The memory is freed,
  /// after what is then queued on its stream, when nothing that was given it needs it any more: views, parts, prepared
  /// launches, DLPack tensors, calls on other threads.
  void close();

  /// The same, but after what is queued on `stream`.
  void close(const Stream& stream);

  /// Whether both are the same bytes; closed and empty ones are none.
  friend CUPRUM_API bool operator==(const Buffer& a, const Buffer& b) noexcept;

 private:
  friend struct detail::Access;
  friend class ManagedBuffer;
  friend detail::Kept<detail::BufferResource> detail::keep_memory(const Buffer& buffer);
  friend DevicePointer detail::address_of(const Buffer& buffer);
  explicit Buffer(detail::Shared<detail::BufferResource> shared) : shared_(std::move(shared)) {}
  void copy_from_host(const void* source, std::size_t bytes, const Stream& stream) const;
  void copy_to_host(void* destination, std::size_t bytes, const Stream& stream) const;
  void fill_pattern(const void* pattern, std::size_t width, const Stream& stream) const;
  void* host_view(std::size_t element_size, std::size_t alignment) const;

  detail::Shared<detail::BufferResource> shared_;
};

/// Prints "a buffer of 4096 bytes at 0x7f…", or "a closed buffer".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const Buffer& buffer);

inline detail::Kept<detail::BufferResource> detail::keep_memory(const Buffer& buffer) {
  SharedState* state = buffer.shared_.get();
  if (!state || !state->try_keep()) [[unlikely]]
    refuse_buffer(buffer);
  return Kept<BufferResource>(state);
}

inline DevicePointer detail::address_of(const Buffer& buffer) {
  const SharedState* state = buffer.shared_.get();
  if (!state || state->is_closed()) [[unlikely]]
    refuse_buffer(buffer);
  return state->kept_handle();
}

template <typename T>
Buffer MemoryResource::allocate(std::size_t count, const Stream& stream) const {
  return allocate(detail::size_in_bytes(count, sizeof(T)), stream);
}

}  // namespace cuprum::inline CUPRUM_ABI

/// By address, so that parts that begin at the same one share it.
template <>
struct std::hash<cuprum::Buffer> {
  std::size_t operator()(const cuprum::Buffer& buffer) const noexcept {
    return std::hash<cuprum::DevicePointer>{}(buffer.handle());
  }
};
