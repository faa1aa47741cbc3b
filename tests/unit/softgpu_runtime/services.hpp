// The services of two devices, without a driver.
#pragma once

#include "softgpu/runtime/base/config.hpp"
#include "softgpu/runtime/base/devices.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"
#include "softgpu/runtime/work/work_services.hpp"

namespace softgpu::runtime {

inline constexpr std::size_t kDeviceBytes = std::size_t{64} << 20;

struct Services {
  static Config config() {
    Config config;
    config.devices = 2;
    config.memory = {kDeviceBytes};
    return config;
  }

  memory::AddressSpace space{std::size_t{1} << 32};
  WorkServices work{2};
  Devices devices{config(), work.pool.workers(), space};
  MemoryServices memory{work, devices, space};
};

}  // namespace softgpu::runtime
