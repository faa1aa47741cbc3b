#include "softgpu/runtime/base/devices.hpp"

#include "softgpu/runtime/base/config.hpp"
#include "softgpu/runtime/base/error.hpp"

namespace softgpu::runtime {

Devices::Devices(const Config& config, memory::AddressSpace& space, usage::Page& usage) {
  for (unsigned i = 0; i < config.devices; ++i)
    devices_.push_back(std::make_unique<Device>(static_cast<int>(i), config, space, &usage.device[i].memory_bytes));
}

Device& Devices::at(int ordinal) const {
  require(ordinal >= 0 && ordinal < count(), CUDA_ERROR_INVALID_DEVICE, "no such device");
  return *devices_[static_cast<std::size_t>(ordinal)];
}

}  // namespace softgpu::runtime
