// Buffers of managed memory, and advice to the driver on where it is used.
//
//   buffer.set_read_mostly(true);
//   buffer.set_preferred_location(Device(0));
//   buffer.accessed_by().add(Device(1));
//   buffer.prefetch(Device(0), stream);
#pragma once

#include <cstddef>
#include <cuprum/buffer.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/snapshot_iterator.hpp>
#include <cuprum/location.hpp>
#include <iosfwd>
#include <memory>
#include <optional>
#include <vector>

namespace cuprum::inline CUPRUM_ABI {

class AccessedBySet;

/// A Buffer whose memory moves to where it is used. Advice never changes the contents and takes effect at once, without
/// a stream; prefetching and discarding are asynchronous. All of it throws InvalidArgument when the memory turns out
/// not to be managed; advice throws NotSupported when the driver takes none for it, as some do for pools. Threads may
/// share it as they may share a Buffer.
class CUPRUM_API ManagedBuffer : public Buffer {
 public:
  /// The same memory as `buffer`. Throws InvalidArgument when it is not managed.
  explicit ManagedBuffer(const Buffer& buffer);

  /// As Buffer::from_handle, for a pointer to managed memory. That it is, is checked at the first use.
  static ManagedBuffer from_handle(DevicePointer pointer, std::size_t size, std::shared_ptr<void> owner = nullptr);
  /// As Buffer::from_handle: `resource` gets the memory back.
  static ManagedBuffer from_handle(DevicePointer pointer, std::size_t size, const MemoryResource& resource);
  /// The same, after what is then queued on `stream`.
  static ManagedBuffer from_handle(DevicePointer pointer, std::size_t size, const MemoryResource& resource,
                                   const Stream& stream);

  /// Whether readers may get copies of their own, which a write makes invalid.
  bool read_mostly() const;
  /// Whether to make such copies; false drops those that are there.
  void set_read_mostly(bool read_mostly) const;

  /// Where the memory should stay; none for no preference. Before CUDA 13 a NUMA node is reported as the host.
  std::optional<Location> preferred_location() const;
  /// Moves nothing now: the memory is kept there once it is there. None takes the preference back.
  void set_preferred_location(const std::optional<Location>& location) const;

  /// The places that the memory is kept mapped for.
  AccessedBySet accessed_by() const;

  /// Keeps the memory mapped for these places, and no others. Throws InvalidArgument, and changes nothing, when one is
  /// a NUMA node.
  void set_accessed_by(const std::vector<Location>& locations) const;

  /// Moves the memory to `location`, in stream order.
  void prefetch(const Location& location, const Stream& stream) const;

  /// Says that the contents are not needed any more, in stream order: they are undefined until written again, and need
  /// not be moved. Throws NotSupported before CUDA 13.
  void discard(const Stream& stream) const;

  /// Discards the contents and moves the memory. Throws NotSupported before CUDA 13.
  void discard_prefetch(const Location& location, const Stream& stream) const;

 private:
  friend struct detail::Access;
  explicit ManagedBuffer(detail::Shared<detail::BufferResource> shared) : Buffer(std::move(shared)) {}
};

/// A live view: reads ask the driver, writes tell it, nothing is remembered. The driver does not tell NUMA nodes apart
/// here: only devices and the host as a whole can be in the set. Keeps the buffer alive.
class CUPRUM_API AccessedBySet {
 public:
  /// Always false for a NUMA node.
  bool contains(const Location& location) const;
  /// How many places; each call asks the driver.
  std::size_t size() const;
  /// Whether no place is in it; asks the driver, too.
  bool empty() const { return size() == 0; }

  /// Goes over the places that were in the set when it was called.
  detail::SnapshotIterator<Location> begin() const;
  /// Where each of those iterations ends.
  detail::SnapshotEnd end() const { return {}; }

  /// Keeps the memory mapped for the place. Throws InvalidArgument for a NUMA node.
  void add(const Location& location) const;
  /// Does nothing for a place that is not in the set.
  void discard(const Location& location) const;
  /// Takes all places out.
  void clear() const;

 private:
  friend class ManagedBuffer;
  explicit AccessedBySet(ManagedBuffer buffer) : buffer_(std::move(buffer)) {}
  ManagedBuffer buffer_;
};

/// Prints "{device 0, the host}".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const AccessedBySet& locations);

}  // namespace cuprum::inline CUPRUM_ABI
