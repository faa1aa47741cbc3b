#include <cuprum/error.hpp>
#include <cuprum/memory_resource.hpp>
#include <cuprum/stream.hpp>

#include "core/memory/buffer_resource.hpp"

namespace cuprum {

using detail::Access;

MemoryResource::Interface::~Interface() = default;

void MemoryResource::Interface::take_back(DevicePointer pointer, std::size_t size,
                                          const std::shared_ptr<detail::StreamResource>& stream) {
  deallocate(pointer, size, Access::make<Stream>(stream));
}

MemoryResource::MemoryResource(std::shared_ptr<Interface> implementation) : implementation_(std::move(implementation)) {
  if (!implementation_) throw InvalidArgument("a memory resource needs an implementation; this one is null");
}

Buffer MemoryResource::allocate(std::size_t size, const Stream& stream) const {
  return detail::allocate_buffer(implementation_, size, stream);
}

void MemoryResource::deallocate(DevicePointer pointer, std::size_t size, const Stream& stream) const {
  Access::resource(stream);  // refused even when there is nothing to free
  if (pointer) implementation_->deallocate(pointer, size, stream);
}

}  // namespace cuprum
