// The order of copies in the NULL stream between memory of two devices: such a copy comes after what was issued to
// either device and before what is issued to either one later. Work in streams that don't wait for the NULL stream
// stays unordered, as it is with any use of that.
#pragma once

#include <memory>
#include <vector>

#include "softgpu/runtime/memory/memory_operations.hpp"
#include "softgpu/runtime/work/stream.hpp"

namespace softgpu::runtime {

using OtherDevices = std::vector<std::shared_ptr<Context>>;

// What the stream is given next comes after the work of the other devices that have a part in the copy; returns those.
// None for streams that are not the NULL stream, and where only the stream's own device has a part.
OtherDevices wait_for_other_devices(const MemoryServices& services, Stream& stream, const Copy& copy);
// What the others are given next comes after what the stream has been given.
void make_other_devices_wait(const OtherDevices& others, const Stream& stream);

// Enqueues a copy in order with all devices that have a part in it.
template <typename Enqueue>
void between_devices(const MemoryServices& services, Stream& stream, const Copy& copy, Enqueue&& enqueue) {
  const OtherDevices others = wait_for_other_devices(services, stream, copy);
  enqueue();
  make_other_devices_wait(others, stream);
}

}  // namespace softgpu::runtime
