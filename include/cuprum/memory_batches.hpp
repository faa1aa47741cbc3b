// Many copies, prefetches or discards by one call.
//
//   copy_batch(stream, {a, b}, {copy_of_a, copy_of_b});
//   prefetch_batch(stream, managed_buffers, device);
//   prefetch_batch(stream, {x, y}, {device, Host()});
#pragma once

#include <cstddef>
#include <cuprum/buffer.hpp>
#include <cuprum/copy_options.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/location.hpp>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <vector>

namespace cuprum::inline CUPRUM_ABI {

class Stream;

namespace detail {
template <typename Range, typename Item>
concept RangeOf = requires(const Range& range) {
  { *range.begin() } -> std::convertible_to<const Item&>;
  range.end();
};
}  // namespace detail

/// The buffers of a batch: any range of Buffer or ManagedBuffer, or a list in braces. Refers to them.
class CUPRUM_API BufferBatch {
 public:
  /// The range must outlive the batch, as it does when it is an argument of the call.
  template <detail::RangeOf<Buffer> Range>
  BufferBatch(const Range& buffers) {
    for (const Buffer& buffer : buffers) items_.push_back(&buffer);
  }
  /// A list in braces, for the call that it is written in.
  BufferBatch(std::initializer_list<Buffer> buffers);

  /// How many buffers; an empty batch is refused by what it is given to.
  std::size_t size() const { return items_.size(); }
  /// `index` must be less than size().
  const Buffer& operator[](std::size_t index) const { return *items_[index]; }

 private:
  std::vector<const Buffer*> items_;
};

/// The places of a batch: one for all buffers, or one for each.
class CUPRUM_API LocationBatch {
 public:
  /// One place for all buffers, as many as they are.
  LocationBatch(const Location& one);
  /// One device for all.
  LocationBatch(const Device& one) : LocationBatch(Location(one)) {}
  /// The host for all.
  LocationBatch(const Host& one) : LocationBatch(Location(one)) {}
  /// A place for each buffer, in the same order. They are copied.
  template <detail::RangeOf<Location> Range>
  LocationBatch(const Range& each) : items_(each.begin(), each.end()) {}
  /// The same from a list in braces.
  LocationBatch(std::initializer_list<Location> each);

  /// Whether the one place is good for any number of buffers.
  bool is_one_for_all() const { return is_one_for_all_; }
  /// How many places; 1 when it is one for all.
  std::size_t size() const { return items_.size(); }
  /// The place of the buffer of that number, which must be less than size() unless it is one for all.
  const Location& operator[](std::size_t index) const { return items_[is_one_for_all_ ? 0 : index]; }

 private:
  std::vector<Location> items_;
  bool is_one_for_all_ = false;
};

/// Copies srcs[i] to dsts[i], for all i, after the work queued on `stream` before and in no order among each other: no
/// destination may overlap another buffer of the batch. All of them must stay open until the copies have run. With a
/// driver before CUDA 13 they are made one by one, and the options that can't be kept are as for Buffer::copy_to.
///
/// Throws InvalidArgument, and copies nothing, when a batch is empty, the numbers or the sizes differ, the stream is
/// the legacy default stream (which the driver refuses here) or is being captured into a graph.
CUPRUM_API void copy_batch(const Stream& stream, const BufferBatch& srcs, const BufferBatch& dsts,
                           const CopyOptions& options = {});

/// The same with options for each copy.
CUPRUM_API void copy_batch(const Stream& stream, const BufferBatch& srcs, const BufferBatch& dsts,
                           std::span<const CopyOptions> options);

/// Moves managed memory, each buffer to its place, in stream order. With a driver before CUDA 13 one by one. Throws
/// InvalidArgument, and moves nothing, when the batch is empty, the numbers differ, or a buffer is not managed.
CUPRUM_API void prefetch_batch(const Stream& stream, const BufferBatch& buffers, const LocationBatch& locations);

/// Says of managed memory that its contents are not needed any more, in stream order; see ManagedBuffer::discard.
/// Throws like prefetch_batch, and NotSupported before CUDA 13.
CUPRUM_API void discard_batch(const Stream& stream, const BufferBatch& buffers);

/// Discards the contents and moves the memory. Throws like discard_batch.
CUPRUM_API void discard_prefetch_batch(const Stream& stream, const BufferBatch& buffers,
                                       const LocationBatch& locations);

}  // namespace cuprum::inline CUPRUM_ABI
