// What buffers hold.
#pragma once

#include <atomic>
#include <cuprum/buffer.hpp>
#include <cuprum/memory_resource.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "core/closable.hpp"
#include "core/default_streams.hpp"
#include "core/resources.hpp"
#include "support/counted.hpp"

namespace cuprum::detail {

struct BufferResource : support::Counted<BufferResource> {
  /// Memory that is somebody else's.
  BufferResource(DevicePointer the_pointer, std::size_t the_size, std::shared_ptr<void> the_owner) noexcept
      : pointer(the_pointer), size(the_size), owner(std::move(the_owner)), reached(true) {}
  /// Memory that is given back.
  BufferResource(DevicePointer the_pointer, std::size_t the_size,
                 const std::shared_ptr<MemoryResource::Interface>& the_memory,
                 std::shared_ptr<StreamResource> the_stream) noexcept
      : pointer(the_pointer), size(the_size), memory(the_memory), stream(std::move(the_stream)) {}
  BufferResource(const BufferResource&) = delete;
  BufferResource& operator=(const BufferResource&) = delete;
  ~BufferResource();

  // These two change when a VirtualMemoryResource lets the buffer grow.
  DevicePointer pointer;
  std::size_t size;

  std::shared_ptr<MemoryResource::Interface> memory;  ///< takes the memory back; null for a wrapped buffer
  std::shared_ptr<StreamResource> stream;             ///< in whose order it is taken back; settled
  std::shared_ptr<void> owner;                        ///< of a wrapped buffer
  bool mapped = false;                                ///< imported from another process
  std::atomic<bool> reached{false};  ///< the stream is known to have reached the allocation, so the host may touch it
};

/// A buffer's place, in use while it is open and as long as something else needs the memory. Looks like a pointer that
/// is null when the buffer is closed.
class BufferSlot {
 public:
  explicit operator bool() const noexcept { return is_open_; }
  BufferResource& operator*() noexcept { return *resource_; }
  BufferResource* operator->() noexcept { return &*resource_; }

  template <typename... Arguments>
  void emplace(Arguments&&... arguments) {
    resource_.emplace(std::forward<Arguments>(arguments)...);
    is_open_ = true;
  }

  /// Closes the buffer.
  void reset() noexcept {
    if (std::exchange(is_open_, false)) drop();
  }

  void use() noexcept { users_.fetch_add(1, std::memory_order_relaxed); }
  void drop() noexcept {
    if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) resource_.reset();
  }

 private:
  std::optional<BufferResource> resource_;
  bool is_open_ = false;
  std::atomic<int> users_{1};
};

/// Holds the resource itself: making a buffer costs one allocation.
template <>
struct Closable<BufferResource> {
  BufferSlot resource;
};

/// Keeps the memory of an open buffer, also when that is closed.
class BufferUse {
 public:
  explicit BufferUse(const Buffer& buffer) : shared_(Access::shared(buffer)) {
    Access::resource(buffer);
    shared_->resource.use();
  }
  BufferUse(const BufferUse&) = delete;
  BufferUse& operator=(const BufferUse&) = delete;
  ~BufferUse() { shared_->resource.drop(); }

 private:
  Shared<BufferResource> shared_;
};

/// A buffer of memory that `memory` allocates.
template <typename Handle = Buffer>
Handle allocate_buffer(const std::shared_ptr<MemoryResource::Interface>& memory, std::size_t size,
                       const Stream& stream) {
  std::shared_ptr<StreamResource> queue = core::settled(Access::resource(stream));
  auto shared = std::make_shared<Closable<BufferResource>>();  // first: there must be a place for what is allocated
  shared->resource.emplace(size == 0 ? 0 : memory->allocate(size, stream), size, memory, std::move(queue));
  return Access::make_buffer<Handle>(std::move(shared));
}

/// A buffer of memory that is there already; for the arguments see the constructors.
template <typename Handle = Buffer, typename... Arguments>
Handle wrap_buffer(DevicePointer pointer, std::size_t size, Arguments&&... arguments) {
  auto shared = std::make_shared<Closable<BufferResource>>();
  shared->resource.emplace(pointer, size, std::forward<Arguments>(arguments)...);
  return Access::make_buffer<Handle>(std::move(shared));
}

}  // namespace cuprum::detail
