// What buffers hold.
#pragma once

#include <atomic>
#include <cuprum/buffer.hpp>
#include <cuprum/memory_resource.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/closable.hpp"
#include "core/memory/pointer_facts.hpp"
#include "core/stream/captures.hpp"
#include "core/stream/default_streams.hpp"
#include "core/stream/resources.hpp"
#include "support/counted.hpp"

namespace cuprum::inline CUPRUM_ABI::detail {

struct BufferResource : support::Counted<BufferResource> {
  /// Memory that is somebody else's.
  BufferResource(DevicePointer the_pointer, std::size_t the_size, std::shared_ptr<void> the_owner) noexcept
      : pointer(the_pointer), size(the_size), owner(std::move(the_owner)), reached_(true) {}
  /// Memory that is given back.
  BufferResource(DevicePointer the_pointer, std::size_t the_size,
                 const std::shared_ptr<MemoryResource::Interface>& the_memory, Kept<StreamResource> the_stream) noexcept
      : pointer(the_pointer), size(the_size), memory(the_memory), freed_on_(std::move(the_stream)) {}
  /// A part of other memory.
  BufferResource(const Kept<BufferResource>& other, std::size_t offset, std::size_t the_size) noexcept
      : pointer(other->pointer + offset),
        size(the_size),
        memory(other->memory),
        owner(other->owner),
        whole(other->whole ? other->whole : other),
        mapped(other->mapped) {}
  BufferResource(const BufferResource&) = delete;
  BufferResource& operator=(const BufferResource&) = delete;
  ~BufferResource();

  std::uint64_t number() const noexcept { return pointer; }

  /// That the memory was allocated with: itself, unless it is a part.
  const BufferResource& allocation() const noexcept { return whole ? *whole : *this; }

  // These two change when a VirtualMemoryResource lets the buffer grow.
  DevicePointer pointer;
  std::size_t size;

  std::shared_ptr<MemoryResource::Interface> memory;  ///< takes the memory back; null for a wrapped buffer
  std::shared_ptr<void> owner;                        ///< of a wrapped buffer
  const Kept<BufferResource> whole;                   ///< of a part, which gives nothing back: what does
  bool mapped = false;                                ///< imported from another process
  bool allocated_in_capture = false;                  ///< of the stream that it was allocated on

  /// Where more such memory can be had; null when nowhere.
  std::shared_ptr<MemoryResource::Interface> source() const;

  /// Makes the memory be taken back in this stream's order, which is settled.
  void free_on(Kept<StreamResource> stream) const;
  /// The stream in whose order the memory was allocated, and so the one that has to get there before anybody else uses
  /// it. None for memory that was there before.
  Kept<StreamResource> allocated_on() const;
  /// The stream in whose order it is taken back.
  Kept<StreamResource> freed_on() const;
  /// Blocks until the host may touch the memory as far as the allocation is concerned: until then it may belong to a
  /// buffer that was freed on the stream but is still in use.
  void wait_for_allocation() const;

  /// Who can use the memory, and where it is: what its resource knows, or else the driver, which is asked once.
  core::PointerFacts facts() const;
  bool is_managed() const;

 private:
  void give_back(const Kept<StreamResource>& stream) const;
  static void take_back(MemoryResource::Interface& memory, DevicePointer pointer, std::size_t size,
                        const Kept<StreamResource>& stream) noexcept;
  const core::PointerFacts& driver_facts() const;

  mutable std::mutex mutex_;                         ///< guards what follows, until the memory is taken back
  mutable Kept<StreamResource> freed_on_;            ///< in whose order the memory is taken back; settled
  mutable Kept<StreamResource> made_on_;             ///< in whose order it was allocated, when that is another
  mutable std::optional<core::PointerFacts> facts_;  ///< of the driver, once they were asked for
  mutable std::atomic<bool> reached_{false};         ///< the stream is known to have reached the allocation
};

/// Gives a buffer another address.
inline void move_buffer(Closable<BufferResource>& shared, DevicePointer pointer) noexcept {
  shared.resource.pointer = pointer;
  shared.set_handle(pointer);
}

/// A buffer of memory that `memory` takes back and `allocate(queue)` gives, on the stream in whose order that is.
template <typename Handle = Buffer, typename Allocate>
Handle allocate_buffer_by(const std::shared_ptr<MemoryResource::Interface>& memory, std::size_t size,
                          const Stream& stream, Allocate&& allocate) {
  Kept<StreamResource> settled = core::settled(Access::keep(stream));
  const StreamResource& queue = *settled;  // which the buffer keeps
  // First: there must be a place for what is allocated.
  auto* shared = new Closable<BufferResource>(std::in_place, 0, size, memory, std::move(settled));
  Handle buffer = Access::take<Handle>(shared);
  if (core::is_something_captured()) [[unlikely]]
    shared->resource.allocated_in_capture = core::captured_graph(*Access::keep(stream)) != nullptr;
  if (size != 0) move_buffer(*shared, allocate(queue));
  return buffer;
}

/// A buffer of memory that `memory` allocates.
template <typename Handle = Buffer>
Handle allocate_buffer(const std::shared_ptr<MemoryResource::Interface>& memory, std::size_t size,
                       const Stream& stream) {
  return allocate_buffer_by<Handle>(memory, size, stream,
                                    [&](const StreamResource&) { return memory->allocate(size, stream); });
}

/// A buffer of memory that is there already; for the arguments see the constructors.
template <typename Handle = Buffer, typename... Arguments>
Handle wrap_buffer(DevicePointer pointer, std::size_t size, Arguments&&... arguments) {
  return Access::make<Handle, BufferResource>(pointer, size, std::forward<Arguments>(arguments)...);
}

}  // namespace cuprum::inline CUPRUM_ABI::detail
