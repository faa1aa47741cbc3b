#include <cuprum/error.hpp>
#include <cuprum/memory_resource.hpp>
#include <cuprum/stream.hpp>

#include "core/base/empty_handle.hpp"
#include "core/memory/buffer_resource.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using detail::Access;

MemoryResource::Interface::~Interface() = default;

void MemoryResource::Interface::take_back(DevicePointer pointer, std::size_t size,
                                          const detail::Kept<detail::StreamResource>& stream) {
  deallocate(pointer, size, core::handle_of(stream));
}

bool MemoryResource::Interface::knows(DevicePointer, core::PointerFacts&) const { return false; }

MemoryResource::MemoryResource(std::shared_ptr<Interface> implementation) : implementation_(std::move(implementation)) {
  if (!implementation_) throw InvalidArgument("a memory resource needs an implementation; this one is null");
}

MemoryResource::Interface& MemoryResource::interface() const {
  if (implementation_) return *implementation_;
  core::refuse_empty("memory resource");
}

Buffer MemoryResource::Interface::allocate_buffer(const MemoryResource& self, std::size_t size, const Stream& stream) {
  return detail::allocate_buffer(self.implementation(), size, stream);
}

Buffer MemoryResource::allocate(std::size_t size, const Stream& stream) const {
  return interface().allocate_buffer(*this, size, stream);
}

std::size_t detail::size_in_bytes(std::size_t count, std::size_t size_of_one) {
  if (count <= static_cast<std::size_t>(-1) / size_of_one) return count * size_of_one;
  throw InvalidArgument(support::text("memory for ", count, " objects of ", size_of_one,
                                      " bytes: that is more than there are addresses"));
}

void MemoryResource::deallocate(DevicePointer pointer, std::size_t size, const Stream& stream) const {
  const auto kept = Access::keep(stream);  // refused even when there is nothing to free
  if (pointer) interface().deallocate(pointer, size, stream);
}

}  // namespace cuprum::inline CUPRUM_ABI
