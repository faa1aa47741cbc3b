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
#include "core/stream/default_streams.hpp"
#include "core/stream/resources.hpp"
#include "support/counted.hpp"

namespace cuprum::inline CUPRUM_ABI::detail {

struct BufferResource : support::Counted<BufferResource> {
  /// Memory that is somebody else's.
  BufferResource(DevicePointer the_pointer, std::size_t the_size, std::shared_ptr<void> the_owner) noexcept
      : pointer(the_pointer), size(the_size), owner(std::move(the_owner)), reached(true) {}
  /// Memory that is given back.
  BufferResource(DevicePointer the_pointer, std::size_t the_size,
                 const std::shared_ptr<MemoryResource::Interface>& the_memory,
                 std::shared_ptr<StreamResource> the_stream) noexcept
      : pointer(the_pointer), size(the_size), memory(the_memory), stream(std::move(the_stream)) {}
  /// A part of other memory, which `the_whole` keeps.
  BufferResource(const BufferResource& other, std::size_t offset, std::size_t the_size,
                 std::shared_ptr<const void> the_whole) noexcept
      : pointer(other.pointer + offset),
        size(the_size),
        memory(other.memory),
        stream(other.stream),
        owner(other.owner),
        whole(std::move(the_whole)),
        mapped(other.mapped),
        reached(other.reached.load()) {}
  BufferResource(const BufferResource&) = delete;
  BufferResource& operator=(const BufferResource&) = delete;
  ~BufferResource();

  // These two change when a VirtualMemoryResource lets the buffer grow.
  DevicePointer pointer;
  std::size_t size;

  std::shared_ptr<MemoryResource::Interface> memory;  ///< takes the memory back; null for a wrapped buffer
  std::shared_ptr<StreamResource> stream;             ///< in whose order it is taken back; settled
  std::shared_ptr<void> owner;                        ///< of a wrapped buffer
  std::shared_ptr<const void> whole;                  ///< of a part, which gives nothing back: what keeps the memory
  bool mapped = false;                                ///< imported from another process
  std::atomic<bool> reached{false};  ///< the stream is known to have reached the allocation, so the host may touch it

  /// What the driver knows of the memory, for buffers without a resource that does; asked once.
  const core::PointerFacts& facts() const;

 private:
  mutable std::mutex facts_mutex_;
  mutable std::optional<core::PointerFacts> facts_;  ///< once they were asked for
};

template <>
struct Closable<BufferResource> : ClosableInPlace<BufferResource> {};

/// A buffer of memory that `memory` allocates.
template <typename Handle = Buffer>
Handle allocate_buffer(const std::shared_ptr<MemoryResource::Interface>& memory, std::size_t size,
                       const Stream& stream) {
  std::shared_ptr<StreamResource> queue = core::settled(Access::resource(stream));
  auto shared = std::make_shared<Closable<BufferResource>>();  // first: there must be a place for what is allocated
  shared->resource.emplace(size == 0 ? 0 : memory->allocate(size, stream), size, memory, std::move(queue));
  return Access::wrap<Handle>(std::move(shared));
}

/// A buffer of memory that is there already; for the arguments see the constructors.
template <typename Handle = Buffer, typename... Arguments>
Handle wrap_buffer(DevicePointer pointer, std::size_t size, Arguments&&... arguments) {
  return Access::make_in_place<Handle, BufferResource>(pointer, size, std::forward<Arguments>(arguments)...);
}

}  // namespace cuprum::inline CUPRUM_ABI::detail
