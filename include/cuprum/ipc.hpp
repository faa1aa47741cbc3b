// Sharing memory and events with other processes of the machine: what is sent to them.
//
//   DeviceMemoryResource pool(device, {.ipc_enabled = true});
//   Buffer data = pool.allocate(4096, stream);
//   channel.send(pool.allocation_handle());            // once: the right to map the pool's memory
//   channel.send(data.ipc_descriptor());               // then each buffer, as a few plain bytes
//
// and in the other process
//
//   auto pool = DeviceMemoryResource::from_allocation_handle(device, channel.receive<IPCAllocationHandle>());
//   Buffer data = Buffer::from_ipc_descriptor(pool, channel.receive<IPCBufferDescriptor>(), stream);
//
// <cuprum/ipc_channel.hpp> has such a channel; any other way to move bytes, and a file descriptor for the pool, does as
// well. What comes from another process is checked before it is used, but a process that may write to shared memory can
// write anything: docs/guide/sharing.md says what is safe to share with whom.
#pragma once

#include <array>
#include <cstddef>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/shared.hpp>
#include <cuprum/uuid.hpp>
#include <iosfwd>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace cuprum::inline CUPRUM_ABI {

namespace detail {

struct AllocationHandleResource;
struct IpcAccess;

/// The driver's own description of what it shares.
using IpcPayload = std::array<std::byte, 64>;

/// Where a descriptor comes from.
struct IpcOrigin {
  Uuid process;  ///< drawn once by each process that exports
  Uuid device;   ///< zero for host memory
  bool operator==(const IpcOrigin&) const = default;
};

}  // namespace detail

/// Describes a buffer to another process. A plain value: its bytes may travel in any way and be used any number of
/// times as long as the exporting process keeps the buffer.
class CUPRUM_API IPCBufferDescriptor {
 public:
  /// Reads what to_bytes() wrote, in any process. Throws InvalidArgument with the reason when the bytes are truncated,
  /// damaged, too many, of another version or describe something else.
  static IPCBufferDescriptor from_bytes(std::span<const std::byte> bytes);
  /// Takes payload() of a buffer that a program without this library exports, such as one with NVIDIA's cuda.core, so
  /// that less can be checked when it is imported. Throws InvalidArgument unless it has 64 bytes.
  static IPCBufferDescriptor adopt(std::span<const std::byte> payload, std::size_t size);
  /// What travels to the other process.
  std::vector<std::byte> to_bytes() const;
  /// The driver's own description of the memory, for programs without this library. Valid as long as the descriptor.
  std::span<const std::byte> payload() const { return payload_; }

  /// Of the buffer, in bytes.
  std::size_t size() const { return size_; }

  /// Of the memory resource that the buffer belongs to: the key for DeviceMemoryResource::from_registry.
  const Uuid& memory_resource_uuid() const { return pool_; }

  friend bool operator==(const IPCBufferDescriptor&, const IPCBufferDescriptor&) = default;

 private:
  friend struct detail::IpcAccess;
  IPCBufferDescriptor() = default;
  detail::IpcOrigin origin_;
  Uuid pool_;
  std::size_t size_ = 0;
  detail::IpcPayload payload_{};
};

/// Describes an event to another process. A plain value like IPCBufferDescriptor.
class CUPRUM_API IPCEventDescriptor {
 public:
  /// As IPCBufferDescriptor::from_bytes.
  static IPCEventDescriptor from_bytes(std::span<const std::byte> bytes);
  /// As IPCBufferDescriptor::adopt. The event is imported on the current device.
  static IPCEventDescriptor adopt(std::span<const std::byte> payload, bool is_blocking_sync = false);
  /// What travels to the other process.
  std::vector<std::byte> to_bytes() const;
  /// As IPCBufferDescriptor::payload.
  std::span<const std::byte> payload() const { return payload_; }

  /// As the event's EventOptions said; the imported event waits in the same way.
  bool is_blocking_sync() const { return blocking_sync_; }

  friend bool operator==(const IPCEventDescriptor&, const IPCEventDescriptor&) = default;

 private:
  friend struct detail::IpcAccess;
  IPCEventDescriptor() = default;
  detail::IpcOrigin origin_;
  bool blocking_sync_ = false;
  detail::IpcPayload payload_{};
};

/// The right to map a memory pool: an open file descriptor, and which pool it is. A cheap handle: copies share the file
/// descriptor, which is closed when the last copy and the memory resource that gave it are gone. Threads may share it.
class CUPRUM_API IPCAllocationHandle {
 public:
  /// Takes over a file descriptor that came from another process by itself, without a word about the pool, so that less
  /// can be checked when it is imported. Throws InvalidArgument when it is negative.
  static IPCAllocationHandle adopt(int file_descriptor, std::optional<Uuid> uuid = std::nullopt);

  /// Takes over a file descriptor (also when this throws), with what to_bytes() said about it. Throws as
  /// IPCBufferDescriptor::from_bytes.
  static IPCAllocationHandle from_bytes(std::span<const std::byte> bytes, int file_descriptor);

  /// Which pool this is. The file descriptor must travel on its own: Channel does that, or a child process inherits it.
  std::vector<std::byte> to_bytes() const;

  /// The file descriptor, or -1 when this is closed or empty; it stays this object's. It is not inherited by programs
  /// that this process starts, unless they are given a duplicate (dup2, posix_spawn_file_actions_adddup2).
  int handle() const noexcept;

  /// Of the memory resource; none when nobody said.
  std::optional<Uuid> uuid() const;

  /// Whether the pool is one of pinned memory, and not of a device's; false when nobody said.
  bool is_pinned() const;

  /// Closes it for all copies; later use throws InvalidArgument. Closing twice does nothing. The memory resource that
  /// gave the handle is not affected.
  void close();

 private:
  friend struct detail::Access;
  explicit IPCAllocationHandle(detail::Shared<detail::AllocationHandleResource> shared) : shared_(std::move(shared)) {}
  detail::Shared<detail::AllocationHandleResource> shared_;
};

/// Prints the size and the pool's UUID.
CUPRUM_API std::ostream& operator<<(std::ostream& out, const IPCBufferDescriptor& descriptor);
/// Prints "the description of an event", and whether it blocks in sync().
CUPRUM_API std::ostream& operator<<(std::ostream& out, const IPCEventDescriptor& descriptor);
/// Prints the file descriptor and the pool's UUID, where it is known; "a closed allocation handle".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const IPCAllocationHandle& handle);

}  // namespace cuprum::inline CUPRUM_ABI
