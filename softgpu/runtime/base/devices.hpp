// The devices of this process.
#pragma once

#include <memory>
#include <vector>

#include "softgpu/runtime/base/device.hpp"
#include "softgpu/usage/page.hpp"

namespace softgpu::runtime {

// Does not change once it is made.
class Devices {
 public:
  // `config` is complete. `usage` is where they count what they hand out.
  Devices(const Config& config, memory::AddressSpace& space, usage::Page& usage);

  int count() const { return static_cast<int>(devices_.size()); }
  Device& at(int ordinal) const;  // throws CUDA_ERROR_INVALID_DEVICE

 private:
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace softgpu::runtime
