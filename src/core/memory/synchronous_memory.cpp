#include "core/memory/synchronous_memory.hpp"

#include <cuprum/stream.hpp>

#include "core/base/context.hpp"
#include "core/stream/resources.hpp"
#include "driver/release.hpp"
#include "support/text.hpp"

namespace cuprum::core {

using detail::Access;
using detail::Kept;
using detail::StreamResource;
using driver::Api;
using driver::Doing;
using support::text;

// The stream may be one of another device.
ContextChoice SynchronousMemory::context_for(const ContextChoice& stream) const {
  if (!device_) return stream;
  return stream.resolve().device == *device_ ? stream : ContextChoice(primary_context(*device_));
}

DevicePointer SynchronousMemory::allocate(std::size_t size, const Stream& stream) {
  const Kept<StreamResource> queue = Access::keep(stream);
  ContextGuard guard(context_for(queue->context()));
  if (device_) {
    CUdeviceptr pointer = 0;
    driver::call<&Api::cuMemAlloc>(
        Doing{[&] { return text("allocating ", size, " bytes of memory of device ", *device_); }}, &pointer, size);
    return pointer;
  }
  void* pointer = nullptr;
  driver::call<&Api::cuMemHostAlloc>(
      Doing{[&] { return text("allocating ", size, " bytes of page-locked host memory"); }}, &pointer, size,
      static_cast<unsigned>(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
  return reinterpret_cast<DevicePointer>(pointer);
}

void SynchronousMemory::deallocate(DevicePointer pointer, std::size_t, const Stream& stream) {
  const Kept<StreamResource> queue = Access::keep(stream);
  stream.sync();
  ContextGuard guard(context_for(queue->context()));
  free(pointer);
}

void SynchronousMemory::free(DevicePointer pointer) const {
  Doing doing{[&] { return text("freeing memory at ", reinterpret_cast<void*>(pointer)); }};
  if (device_) {
    driver::call<&Api::cuMemFree>(doing, pointer);
  } else {
    driver::call<&Api::cuMemFreeHost>(doing, reinterpret_cast<void*>(pointer));
  }
}

void SynchronousMemory::take_back(DevicePointer pointer, std::size_t, const Kept<StreamResource>& stream) {
  const bool is_of_another_device = device_ && stream->context().device() != device_;
  {
    ContextGuard guard(stream->context(), std::nothrow);
    if (guard.entered()) driver::release<&Api::cuStreamSynchronize>(stream->handle);
    if (!guard.entered() && !is_of_another_device) return;  // the memory is gone with the context
  }
  ContextGuard guard(is_of_another_device ? ContextChoice(primary_context(*device_)) : stream->context(), std::nothrow);
  if (!guard.entered()) return;
  if (device_) {
    driver::release<&Api::cuMemFree>(pointer);
  } else {
    driver::release<&Api::cuMemFreeHost>(reinterpret_cast<void*>(pointer));
  }
}

}  // namespace cuprum::core
