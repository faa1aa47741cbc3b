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
    config.workers = 2;
    return config;
  }

  memory::AddressSpace space{std::size_t{1} << 32};
  usage::Page usage{};
  WorkServices work{2, usage};
  Devices devices{config(), space, usage};
  MemoryServices memory{work, devices, space};
};

}  // namespace softgpu::runtime
