// The devices of this process.
#pragma once

#include <memory>
#include <vector>

#include "softgpu/runtime/base/device.hpp"

namespace softgpu::runtime {

// Does not change once it is made.
class Devices {
 public:
  Devices(const Config& config, unsigned workers, memory::AddressSpace& space);

  int count() const { return static_cast<int>(devices_.size()); }
  Device& at(int ordinal) const;  // throws CUDA_ERROR_INVALID_DEVICE

 private:
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace softgpu::runtime
