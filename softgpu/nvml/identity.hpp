// Names of a device, as NVML writes them.
#pragma once

#include <string>

#include "softgpu/runtime/base/device_facts.hpp"

namespace softgpu::nvml {

std::string uuid_text(const runtime::DeviceFacts& facts);  // "GPU-" and the UUID in hexadecimal

}  // namespace softgpu::nvml
