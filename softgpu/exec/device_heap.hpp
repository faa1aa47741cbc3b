// malloc() and free() of device code, as whoever launches a grid provides them.
#pragma once

#include <cstddef>

namespace softgpu::exec {

// Thread-safe. Called from kernels, which may be left in between two calls but not inside one.
class DeviceHeap {
 public:
  virtual ~DeviceHeap() = default;
  // 16-byte aligned; null when there is no room.
  virtual void* allocate(std::size_t bytes) noexcept = 0;
  // False when `memory` is not from allocate() or has been released.
  virtual bool release(void* memory) noexcept = 0;
};

}  // namespace softgpu::exec
