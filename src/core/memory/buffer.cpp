#include <cuprum/buffer.hpp>
#include <cuprum/stream.hpp>
#include <ostream>

#include "core/memory/buffer_resource.hpp"
#include "core/memory/copy.hpp"
#include "core/memory/default_memory.hpp"
#include "core/memory/pointer_facts.hpp"
#include "core/stream/default_streams.hpp"
#include "support/log.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::ContextGuard;
using detail::Access;
using detail::BufferResource;
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

template <typename... Options>
void copy(const Buffer& destination, const Buffer& source, const Stream& stream, const Options&... options) {
  const BufferResource& to = *Access::resource(destination);
  const BufferResource& from = *Access::resource(source);
  check_sizes(from.size, to.size);
  core::queue_copy(to.pointer, from.pointer, to.size, stream, options...);
}

template <typename... Options>
Buffer copy_to_new(const Buffer& source, const Stream& stream, const Options&... options) {
  const BufferResource& from = *Access::resource(source);
  if (!from.memory)
    throw InvalidArgument(text("copy to a new buffer: ", source, " has no memory resource to allocate that from"));
  Buffer destination = MemoryResource(from.memory).allocate(from.size, stream);
  copy(destination, source, stream, options...);
  return destination;
}

}  // namespace

BufferResource::~BufferResource() {
  if (!memory || !pointer || whole) return;
  try {
    if (stream->handle == CU_STREAM_PER_THREAD) [[unlikely]]
      memory->take_back(pointer, size, core::reachable(stream));
    else
      memory->take_back(pointer, size, stream);
  } catch (const std::exception& error) {
    support::log(text("freeing a buffer failed: ", error.what()));
  } catch (...) {
    support::log("freeing a buffer failed: its memory resource threw something that is not a std::exception");
  }
}

const core::PointerFacts& BufferResource::facts() const {
  std::lock_guard lock(facts_mutex_);
  if (!facts_) facts_ = core::facts_of(pointer);
  return *facts_;
}

Buffer Buffer::from_handle(DevicePointer pointer, std::size_t size, std::shared_ptr<void> owner) {
  return detail::wrap_buffer(pointer, size, std::move(owner));
}

Buffer Buffer::from_handle(DevicePointer pointer, std::size_t size, const MemoryResource& resource) {
  return from_handle(pointer, size, resource, core::default_stream_of(resource));
}

Buffer Buffer::from_handle(DevicePointer pointer, std::size_t size, const MemoryResource& resource,
                           const Stream& stream) {
  return detail::wrap_buffer(pointer, size, resource.implementation(), core::settled(Access::resource(stream)));
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
  const BufferResource& to = *Access::resource(*this);
  check_sizes(bytes, to.size);
  core::queue_copy(to.pointer, reinterpret_cast<DevicePointer>(source), bytes, stream);
}

void Buffer::copy_to_host(void* destination, std::size_t bytes, const Stream& stream) const {
  const BufferResource& from = *Access::resource(*this);
  check_sizes(from.size, bytes);
  core::queue_copy(reinterpret_cast<DevicePointer>(destination), from.pointer, bytes, stream);
}

Buffer Buffer::slice(std::size_t offset, std::size_t size) const {
  const BufferResource& buffer = *Access::resource(*this);
  if (offset > buffer.size || size > buffer.size - offset) {
    throw InvalidArgument(
        text("slice: ", size, " bytes from ", offset, " on are not inside the buffer's ", buffer.size));
  }
  std::shared_ptr<const void> whole = buffer.whole ? buffer.whole : std::shared_ptr<const void>(shared_);
  return Access::make_in_place<Buffer, BufferResource>(buffer, offset, size, std::move(whole));
}

void Buffer::fill_pattern(const void* pattern, std::size_t width, const Stream& stream) const {
  const BufferResource& buffer = *Access::resource(*this);
  const StreamResource& queue = *Access::resource(stream);
  if (width != 1 && width != 2 && width != 4)
    throw InvalidArgument(text("fill: a pattern of ", width, " bytes; it must have 1, 2 or 4"));
  if (buffer.size % width != 0) {
    throw InvalidArgument(text("fill: the buffer's ", buffer.size, " bytes are not a multiple of the value's ", width,
                               "; fill<std::uint8_t> fills byte by byte"));
  }
  if (buffer.size == 0) return;
  std::uint32_t bits = 0;
  std::memcpy(&bits, pattern, width);
  ContextGuard guard(queue.context());
  Doing doing{[&] { return text("filling ", *this, " on ", stream); }};
  const std::size_t count = buffer.size / width;
  if (width == 1) {
    driver::call<&Api::cuMemsetD8Async>(doing, buffer.pointer, static_cast<unsigned char>(bits), count, queue.handle);
  } else if (width == 2) {
    driver::call<&Api::cuMemsetD16Async>(doing, buffer.pointer, static_cast<unsigned short>(bits), count, queue.handle);
  } else {
    driver::call<&Api::cuMemsetD32Async>(doing, buffer.pointer, bits, count, queue.handle);
  }
}

void* Buffer::host_view(std::size_t element_size, std::size_t alignment) const {
  BufferResource& buffer = *Access::resource(*this);
  if (!is_host_accessible()) {
    throw InvalidArgument(
        text("as_span: the host can't access ", *this, "; copy it to one from a PinnedMemoryResource"));
  }
  if (buffer.size % element_size != 0) {
    throw InvalidArgument(
        text("as_span: the buffer's ", buffer.size, " bytes are not a multiple of the element's ", element_size));
  }
  if (buffer.pointer % alignment != 0) {
    throw InvalidArgument(text("as_span: ", *this, " is not aligned to the element's ", alignment, " bytes"));
  }
  // Until the stream has got to the allocation, the memory may belong to a buffer that was freed on it but is still in
  // use.
  if (!buffer.reached && buffer.stream) {
    Access::make<Stream>(core::reachable(buffer.stream)).sync();
    buffer.reached = true;
  }
  return reinterpret_cast<void*>(buffer.pointer);
}

DevicePointer Buffer::handle() const { return Access::resource(*this)->pointer; }

std::size_t Buffer::size() const { return Access::resource(*this)->size; }

bool Buffer::is_device_accessible() const {
  const BufferResource& buffer = *Access::resource(*this);
  return buffer.memory ? buffer.memory->is_device_accessible() : buffer.facts().is_device_accessible;
}

bool Buffer::is_host_accessible() const {
  const BufferResource& buffer = *Access::resource(*this);
  return buffer.memory ? buffer.memory->is_host_accessible() : buffer.facts().is_host_accessible;
}

bool Buffer::is_managed() const {
  const BufferResource& buffer = *Access::resource(*this);
  return (buffer.memory && buffer.memory->is_managed()) || buffer.facts().is_managed;
}

bool Buffer::is_mapped() const { return Access::resource(*this)->mapped; }

std::optional<int> Buffer::device_id() const {
  const BufferResource& buffer = *Access::resource(*this);
  return buffer.memory ? buffer.memory->device_id() : buffer.facts().device;
}

std::optional<MemoryResource> Buffer::memory_resource() const {
  const BufferResource& buffer = *Access::resource(*this);
  if (!buffer.memory) return std::nullopt;
  return MemoryResource(buffer.memory);
}

std::shared_ptr<void> Buffer::owner() const { return Access::resource(*this)->owner; }

void Buffer::set_deallocation_stream(const Stream& stream) const {
  Access::resource(*this)->stream = core::settled(Access::resource(stream));
}

void Buffer::close() { Access::close(*this); }

void Buffer::close(const Stream& stream) {
  if (!Access::is_open(*this)) return;
  set_deallocation_stream(stream);
  close();
}

std::ostream& operator<<(std::ostream& out, const Buffer& buffer) {
  if (!Access::is_open(buffer)) return out << "a closed buffer";
  return out << "a buffer of " << buffer.size() << " bytes at " << reinterpret_cast<void*>(buffer.handle());
}

}  // namespace cuprum::inline CUPRUM_ABI
