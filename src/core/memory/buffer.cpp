#include <cuprum/buffer.hpp>
#include <cuprum/stream.hpp>
#include <ostream>

#include "core/base/empty_handle.hpp"
#include "core/memory/buffer_resource.hpp"
#include "core/memory/copy.hpp"
#include "core/memory/default_memory.hpp"
#include "core/memory/graph_memory.hpp"
#include "core/memory/keeper.hpp"
#include "core/memory/pointer_facts.hpp"
#include "core/memory/taken_back.hpp"
#include "core/stream/captures.hpp"
#include "core/stream/default_streams.hpp"
#include "core/stream/queue_call.hpp"
#include "support/log.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::ContextGuard;
using detail::Access;
using detail::BufferResource;
using detail::Kept;
using detail::StreamResource;
using driver::Api;
using driver::Doing;
using support::text;

namespace {

void check_sizes(std::size_t source, std::size_t destination) {
  if (source == destination) return;
  throw InvalidArgument(text("copy of ", source, " bytes to a destination of ", destination, " bytes",
                             source > destination ? ", which is too small" : "", ": the sizes must be equal"));
}

/// A graph that the work becomes part of keeps the memory.
template <typename... Memory>
void keep_if_captured(const Stream& stream, const Memory&... memory) {
  if (core::is_something_captured()) [[unlikely]] {
    const Kept<StreamResource> queue = Access::keep(stream);
    core::keep_if_captured(*queue, [&] { return core::Owners{core::memory_keeper(memory)...}; });
  }
}

template <typename... Options>
void copy(const Buffer& destination, const Buffer& source, const Stream& stream, const Options&... options) {
  const Kept<BufferResource> to = Access::keep(destination);
  const Kept<BufferResource> from = Access::keep(source);
  check_sizes(from->size, to->size);
  keep_if_captured(stream, to, from);
  core::queue_copy(to->pointer, from->pointer, to->size, stream, options...);
}

template <typename... Options>
Buffer copy_to_new(const Buffer& source, const Stream& stream, const Options&... options) {
  const Kept<BufferResource> from = Access::keep(source);
  const std::shared_ptr<MemoryResource::Interface> memory = from->source();
  if (!memory)
    throw WrongState(text("copy to a new buffer: ", source, " has no memory resource to allocate that from"));
  Buffer destination = MemoryResource(memory).allocate(from->size, stream);
  copy(destination, source, stream, options...);
  return destination;
}

/// Memory of a graph is freed by another node of it, or by one of another graph.
bool can_be_taken_back_in_capture(const BufferResource& buffer) {
  if (dynamic_cast<const core::GraphMemory*>(buffer.memory.get())) return true;
  return buffer.allocated_in_capture && !dynamic_cast<const core::WaitsBeforeTakingBack*>(buffer.memory.get());
}

}  // namespace

BufferResource::~BufferResource() {
  if (!memory || !pointer || whole) return;
  try {
    if (freed_on_->handle == CU_STREAM_PER_THREAD) [[unlikely]]
      give_back(core::reachable(freed_on_));
    else
      give_back(freed_on_);
  } catch (const std::exception& error) {
    support::log(text("freeing a buffer failed: ", error.what()));
  }
}

void BufferResource::give_back(const Kept<StreamResource>& stream) const {
  if (!core::is_something_captured() || can_be_taken_back_in_capture(*this)) [[likely]]
    return take_back(*memory, pointer, size, stream);
  core::after_capture(
      stream, [memory = memory, pointer = pointer, size = size, stream] { take_back(*memory, pointer, size, stream); });
}

void BufferResource::take_back(MemoryResource::Interface& memory, DevicePointer pointer, std::size_t size,
                               const Kept<StreamResource>& stream) noexcept {
  try {
    memory.take_back(pointer, size, stream);
  } catch (const std::exception& error) {
    support::log(text("freeing a buffer failed: ", error.what()));
  } catch (...) {
    support::log("freeing a buffer failed: its memory resource threw something that is not a std::exception");
  }
}

std::shared_ptr<MemoryResource::Interface> BufferResource::source() const {
  return dynamic_cast<const core::OnlyTakesBack*>(memory.get()) ? nullptr : memory;
}

void BufferResource::free_on(Kept<StreamResource> stream) const {
  const BufferResource& all = allocation();
  std::lock_guard lock(all.mutex_);
  if (!all.made_on_) all.made_on_ = all.freed_on_;
  all.freed_on_ = std::move(stream);
}

Kept<StreamResource> BufferResource::freed_on() const {
  const BufferResource& all = allocation();
  std::lock_guard lock(all.mutex_);
  return all.freed_on_;
}

Kept<StreamResource> BufferResource::allocated_on() const {
  const BufferResource& all = allocation();
  std::lock_guard lock(all.mutex_);
  return all.made_on_ ? all.made_on_ : all.freed_on_;
}

void BufferResource::wait_for_allocation() const {
  const BufferResource& all = allocation();
  if (all.reached_) return;
  if (const Kept<StreamResource> stream = allocated_on()) core::handle_of(core::reachable(stream)).sync();
  all.reached_ = true;
}

const core::PointerFacts& BufferResource::driver_facts() const {
  const BufferResource& all = allocation();
  std::lock_guard lock(all.mutex_);
  if (!all.facts_) all.facts_ = core::facts_of(all.pointer);
  return *all.facts_;
}

core::PointerFacts BufferResource::facts() const {
  if (!memory) return driver_facts();
  core::PointerFacts facts{};
  if (memory->knows(allocation().pointer, facts)) return facts;
  return {.is_device_accessible = memory->is_device_accessible(),
          .is_host_accessible = memory->is_host_accessible(),
          .is_managed = memory->is_managed(),
          .device = memory->device_id()};
}

bool BufferResource::is_managed() const { return facts().is_managed || driver_facts().is_managed; }

Buffer Buffer::from_handle(DevicePointer pointer, std::size_t size, std::shared_ptr<void> owner) {
  return detail::wrap_buffer(pointer, size, std::move(owner));
}

Buffer Buffer::from_handle(DevicePointer pointer, std::size_t size, const MemoryResource& resource) {
  return from_handle(pointer, size, resource, core::default_stream_of(resource));
}

Buffer Buffer::from_handle(DevicePointer pointer, std::size_t size, const MemoryResource& resource,
                           const Stream& stream) {
  return detail::wrap_buffer(pointer, size, core::not_empty(resource.implementation(), "memory resource"),
                             core::settled(Access::keep(stream)));
}

void Buffer::copy_from(const Buffer& source, const Stream& stream) const { copy(*this, source, stream); }

Buffer Buffer::copy_to(const Buffer& destination, const Stream& stream) const {
  copy(destination, *this, stream);
  return destination;
}

Buffer Buffer::copy_to(const Stream& stream) const { return copy_to_new(*this, stream); }

void Buffer::copy_from(const Buffer& source, const Stream& stream, const CopyOptions& options) const {
  copy(*this, source, stream, options);
}

Buffer Buffer::copy_to(const Buffer& destination, const Stream& stream, const CopyOptions& options) const {
  copy(destination, *this, stream, options);
  return destination;
}

Buffer Buffer::copy_to(const Stream& stream, const CopyOptions& options) const {
  return copy_to_new(*this, stream, options);
}

void Buffer::copy_from_host(const void* source, std::size_t bytes, const Stream& stream) const {
  const Kept<BufferResource> to = Access::keep(*this);
  check_sizes(bytes, to->size);
  keep_if_captured(stream, to);
  core::queue_copy(to->pointer, reinterpret_cast<DevicePointer>(source), bytes, stream);
}

void Buffer::copy_to_host(void* destination, std::size_t bytes, const Stream& stream) const {
  const Kept<BufferResource> from = Access::keep(*this);
  check_sizes(from->size, bytes);
  keep_if_captured(stream, from);
  core::queue_copy(reinterpret_cast<DevicePointer>(destination), from->pointer, bytes, stream);
}

Buffer Buffer::slice(std::size_t offset, std::size_t size) const {
  const Kept<BufferResource> buffer = Access::keep(*this);
  if (offset > buffer->size || size > buffer->size - offset) {
    throw InvalidArgument(
        text("slice: ", size, " bytes from ", offset, " on are not inside the buffer's ", buffer->size));
  }
  return Access::make<Buffer, BufferResource>(buffer, offset, size);
}

void Buffer::fill_pattern(const void* pattern, std::size_t width, const Stream& stream) const {
  const Kept<BufferResource> buffer = Access::keep(*this);
  const Kept<StreamResource> queue = Access::keep(stream);
  if (width != 1 && width != 2 && width != 4)
    throw InvalidArgument(text("fill: a pattern of ", width, " bytes; it must have 1, 2 or 4"));
  if (buffer->size % width != 0) {
    throw InvalidArgument(text("fill: the buffer's ", buffer->size, " bytes are not a multiple of the value's ", width,
                               "; fill<std::uint8_t> fills byte by byte"));
  }
  if (buffer->size == 0) return;
  keep_if_captured(stream, buffer);
  std::uint32_t bits = 0;
  std::memcpy(&bits, pattern, width);
  Doing doing{[&] { return text("filling ", *this, " on ", stream); }};
  const std::size_t count = buffer->size / width;
  if (width == 1) {
    core::queue_work<&Api::cuMemsetD8Async>(*queue, doing, buffer->pointer, static_cast<unsigned char>(bits), count,
                                            queue->handle);
  } else if (width == 2) {
    core::queue_work<&Api::cuMemsetD16Async>(*queue, doing, buffer->pointer, static_cast<unsigned short>(bits), count,
                                             queue->handle);
  } else {
    core::queue_work<&Api::cuMemsetD32Async>(*queue, doing, buffer->pointer, bits, count, queue->handle);
  }
}

void* Buffer::host_view(std::size_t element_size, std::size_t alignment) const {
  const Kept<BufferResource> buffer = Access::keep(*this);
  if (!is_host_accessible()) {
    throw WrongState(text("as_span: the host can't access ", *this, "; copy it to one from a PinnedMemoryResource"));
  }
  if (buffer->size % element_size != 0) {
    throw InvalidArgument(
        text("as_span: the buffer's ", buffer->size, " bytes are not a multiple of the element's ", element_size));
  }
  if (buffer->pointer % alignment != 0) {
    throw InvalidArgument(text("as_span: ", *this, " is not aligned to the element's ", alignment, " bytes"));
  }
  buffer->wait_for_allocation();
  return reinterpret_cast<void*>(buffer->pointer);
}

DevicePointer Buffer::handle() const noexcept { return Access::number(*this); }

std::size_t Buffer::size() const { return Access::keep(*this)->size; }

bool Buffer::is_device_accessible() const { return Access::keep(*this)->facts().is_device_accessible; }

bool Buffer::is_host_accessible() const { return Access::keep(*this)->facts().is_host_accessible; }

bool Buffer::is_managed() const { return Access::keep(*this)->is_managed(); }

bool Buffer::is_mapped() const { return Access::keep(*this)->mapped; }

std::optional<int> Buffer::device_id() const { return Access::keep(*this)->facts().device; }

std::optional<MemoryResource> Buffer::memory_resource() const {
  const Kept<BufferResource> buffer = Access::keep(*this);
  const std::shared_ptr<MemoryResource::Interface> memory = buffer->source();
  if (!memory) return std::nullopt;
  return MemoryResource(memory);
}

std::shared_ptr<void> Buffer::owner() const { return Access::keep(*this)->owner; }

bool Buffer::is_shared() const noexcept {
  const detail::SharedState* state = shared_.get();
  return state && !state->is_held_once();
}

void Buffer::set_deallocation_stream(const Stream& stream) const {
  Access::keep(*this)->free_on(core::settled(Access::keep(stream)));
}

void Buffer::close() { Access::close(*this); }

void Buffer::close(const Stream& stream) {
  const Kept<BufferResource> closing = Access::try_keep(*this);
  if (!closing) return;
  closing->free_on(core::settled(Access::keep(stream)));
  close();
}

void detail::refuse_buffer(const Buffer& buffer) { Access::refuse(buffer); }

bool operator==(const Buffer& a, const Buffer& b) noexcept {
  const Kept<BufferResource> first = Access::try_keep(a);
  const Kept<BufferResource> second = Access::try_keep(b);
  if (!first || !second) return !first && !second;
  return first->pointer == second->pointer && first->size == second->size;
}

std::ostream& operator<<(std::ostream& out, const Buffer& buffer) {
  const Kept<BufferResource> kept = Access::try_keep(buffer);
  if (!kept) return out << Access::state_in_words(buffer);
  return out << "a buffer of " << kept->size << " bytes at " << reinterpret_cast<void*>(kept->pointer);
}

}  // namespace cuprum::inline CUPRUM_ABI
