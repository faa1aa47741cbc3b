#include "core/graphics/mapping.hpp"

#include <cuprum/error.hpp>
#include <cuprum/stream.hpp>

#include "core/stream/default_streams.hpp"
#include "driver/release.hpp"
#include "support/log.hpp"
#include "support/text.hpp"

namespace cuprum::core {

using driver::Api;
using driver::Doing;
using support::text;

Registration::~Registration() {
  if (!handle_) return;
  ContextGuard guard(context, std::nothrow);
  if (guard.entered()) driver::release<&Api::cuGraphicsUnregisterResource>(handle_);
}

Mapping::Mapping(std::shared_ptr<const Registration> the_registration, KeptStream the_stream)
    : registration(std::move(the_registration)), stream(std::move(the_stream)) {
  CUgraphicsResource handle = registration->handle();
  ContextGuard guard(stream->context());
  driver::call<&Api::cuGraphicsMapResources>(
      Doing{[&] { return text("mapping graphics resource ", static_cast<void*>(handle)); }}, 1u, &handle,
      stream->handle);
}

bool Mapping::is_active() const noexcept {
  const std::scoped_lock lock(mutex_);
  return is_active_;
}

bool Mapping::unmap(const KeptStream& on) {
  const std::scoped_lock lock(mutex_);
  if (!is_active_) return false;
  CUgraphicsResource handle = registration->handle();
  const KeptStream queue = reachable(on);
  ContextGuard guard(queue->context());
  driver::call<&Api::cuGraphicsUnmapResources>(
      Doing{[&] { return text("unmapping graphics resource ", static_cast<void*>(handle)); }}, 1u, &handle,
      queue->handle);
  is_active_ = false;
  return true;
}

void Mapping::unmap_quietly(const KeptStream& on) noexcept {
  try {
    if (is_alive(registration->context)) unmap(on);
  } catch (const std::exception& error) {
    support::log(error.what());
  }
}

DevicePointer MappedMemory::allocate(std::size_t, const Stream&) {
  throw NotSupported("a graphics resource has no memory but its own: allocate from another memory resource");
}

void MappedMemory::deallocate(DevicePointer, std::size_t, const Stream& stream) {
  mapping_->unmap(settled(detail::Access::keep(stream)));
}

void MappedMemory::take_back(DevicePointer, std::size_t, const KeptStream& stream) { mapping_->unmap_quietly(stream); }

}  // namespace cuprum::core
