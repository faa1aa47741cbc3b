#include <cuprum/buffer.hpp>
#include <cuprum/stream.hpp>
#include <ostream>

#include "core/default_streams.hpp"
#include "core/resources.hpp"
#include "support/log.hpp"
#include "support/text.hpp"

namespace cuprum {

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

// Unified addressing lets the driver tell host from device addresses, so one entry point serves all directions.
void queue_copy(DevicePointer destination, DevicePointer source, std::size_t bytes, const Stream& stream) {
  const StreamResource& queue = *Access::resource(stream);
  if (bytes == 0) return;
  ContextGuard guard(queue.context());
  driver::call<&Api::cuMemcpyAsync>(Doing{[&] {
                                      return text("copying ", bytes, " bytes from ", reinterpret_cast<void*>(source),
                                                  " to ", reinterpret_cast<void*>(destination), " on ", stream);
                                    }},
                                    destination, source, bytes, queue.handle);
}

/// Answers for a wrapped buffer, whose pointer only the driver knows.
template <typename T>
std::optional<T> pointer_attribute(DevicePointer pointer, CUpointer_attribute which) {
  T value{};
  if (driver::try_call<&Api::cuPointerGetAttribute>(&value, which, pointer) != CUDA_SUCCESS) return std::nullopt;
  return value;
}

}  // namespace

BufferResource::~BufferResource() {
  if (!memory || !pointer) return;
  try {
    memory->deallocate(pointer, size, Access::make<Stream>(core::reachable(stream)));
  } catch (const std::exception& error) {
    support::log(text("freeing a buffer failed: ", error.what()));
  }
}

MemoryResource::Interface::~Interface() = default;

MemoryResource::MemoryResource(std::shared_ptr<Interface> implementation) : implementation_(std::move(implementation)) {
  if (!implementation_) throw InvalidArgument("a memory resource needs an implementation; this one is null");
}

Buffer MemoryResource::allocate(std::size_t size, const Stream& stream) const {
  std::shared_ptr<StreamResource> queue = core::settled(Access::resource(stream));
  const DevicePointer pointer = size == 0 ? 0 : implementation_->allocate(size, stream);
  std::shared_ptr<BufferResource> buffer;
  try {
    buffer = std::make_shared<BufferResource>(pointer, size);
  } catch (...) {
    if (pointer) implementation_->deallocate(pointer, size, stream);
    throw;
  }
  buffer->memory = implementation_;
  buffer->stream = std::move(queue);
  return Access::make<Buffer>(std::move(buffer));
}

Buffer Buffer::from_handle(DevicePointer pointer, std::size_t size, std::shared_ptr<void> owner) {
  auto buffer = std::make_shared<BufferResource>(pointer, size);
  buffer->owner = std::move(owner);
  buffer->reached = true;
  return Access::make<Buffer>(std::move(buffer));
}

void Buffer::copy_from(const Buffer& source, const Stream& stream) const {
  const BufferResource& to = *Access::resource(*this);
  const BufferResource& from = *Access::resource(source);
  check_sizes(from.size, to.size);
  queue_copy(to.pointer, from.pointer, to.size, stream);
}

Buffer Buffer::copy_to(const Buffer& destination, const Stream& stream) const {
  destination.copy_from(*this, stream);
  return destination;
}

Buffer Buffer::copy_to(const Stream& stream) const {
  auto resource = memory_resource();
  if (!resource)
    throw InvalidArgument(text("copy to a new buffer: ", *this, " has no memory resource to allocate that from"));
  return copy_to(resource->allocate(size(), stream), stream);
}

void Buffer::copy_from_host(const void* source, std::size_t bytes, const Stream& stream) const {
  const BufferResource& to = *Access::resource(*this);
  check_sizes(bytes, to.size);
  queue_copy(to.pointer, reinterpret_cast<DevicePointer>(source), bytes, stream);
}

void Buffer::copy_to_host(void* destination, std::size_t bytes, const Stream& stream) const {
  const BufferResource& from = *Access::resource(*this);
  check_sizes(from.size, bytes);
  queue_copy(reinterpret_cast<DevicePointer>(destination), from.pointer, bytes, stream);
}

void Buffer::fill_pattern(std::uint32_t bits, std::size_t width, const Stream& stream) const {
  const BufferResource& buffer = *Access::resource(*this);
  const StreamResource& queue = *Access::resource(stream);
  if (buffer.size % width != 0) {
    throw InvalidArgument(text("fill: the buffer's ", buffer.size, " bytes are not a multiple of the value's ", width,
                               "; pass a std::uint8_t to fill byte by byte"));
  }
  if (buffer.size == 0) return;
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
  if (buffer.memory) return buffer.memory->is_device_accessible();
  return pointer_attribute<CUdeviceptr>(buffer.pointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER).has_value();
}

bool Buffer::is_host_accessible() const {
  const BufferResource& buffer = *Access::resource(*this);
  if (buffer.memory) return buffer.memory->is_host_accessible();
  const auto type = pointer_attribute<unsigned>(buffer.pointer, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
  const auto managed = pointer_attribute<unsigned>(buffer.pointer, CU_POINTER_ATTRIBUTE_IS_MANAGED);
  // Memory that the driver doesn't know is the host's own.
  return !type || *type == CU_MEMORYTYPE_HOST || managed.value_or(0) != 0;
}

std::optional<int> Buffer::device_id() const {
  const BufferResource& buffer = *Access::resource(*this);
  if (buffer.memory) return buffer.memory->device_id();
  if (is_host_accessible()) return std::nullopt;
  return pointer_attribute<int>(buffer.pointer, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
}

std::optional<MemoryResource> Buffer::memory_resource() const {
  const BufferResource& buffer = *Access::resource(*this);
  if (!buffer.memory) return std::nullopt;
  return MemoryResource(buffer.memory);
}

void Buffer::close() { Access::close(*this); }

void Buffer::close(const Stream& stream) {
  if (!Access::is_open(*this)) return;
  Access::resource(*this)->stream = core::settled(Access::resource(stream));
  close();
}

std::ostream& operator<<(std::ostream& out, const Buffer& buffer) {
  if (!Access::is_open(buffer)) return out << "a closed buffer";
  return out << "a buffer of " << buffer.size() << " bytes at " << reinterpret_cast<void*>(buffer.handle());
}

}  // namespace cuprum
