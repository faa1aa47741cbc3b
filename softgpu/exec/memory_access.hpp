// Which memory a grid may use: asked by the code of kernels that were given memory of another device.
#pragma once

namespace softgpu::exec {

class MemoryAccess {
 public:
  virtual ~MemoryAccess() = default;
  // The number of the device whose memory this is, if the grid may not use it, else -1. Called inside of kernels.
  virtual int owner_if_denied(const void* address) const noexcept = 0;
};

}  // namespace softgpu::exec
