#include "softgpu/runtime/base/device_facts.hpp"

#include <cstdio>
#include <cstring>
#include <fstream>

#include "softgpu/runtime/base/config.hpp"

namespace softgpu::runtime {
namespace {

// As the kernel tells it, without the frequency and the core count that some names carry.
std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    std::string name = line.substr(std::min(line.size(), line.find(':') + 2));
    name = name.substr(0, name.find(" @ "));
    const auto end = name.find_last_not_of(' ');
    return end == std::string::npos ? "CPU" : name.substr(0, end + 1);
  }
  return "CPU";
}

}  // namespace

DeviceFacts::DeviceFacts(int ordinal, const Config& config)
    : ordinal_(ordinal),
      unit_(ordinal),
      compute_capability_(config.compute_capability),
      profile_(profile_of(config.compute_capability)),
      multiprocessors_(static_cast<int>(config.multiprocessors != 0 ? config.multiprocessors : config.workers)),
      has_memory_pools_(config.memory_pools),
      cuda_version_(config.cuda_version),
      memory_bytes_(config.memory_of(static_cast<unsigned>(ordinal))),
      name_("Cuprum softgpu (" + processor_name() + ")") {}

// Stable for a machine's n-th device, and a version 8 UUID, so that it is nobody else's.
CUuuid DeviceFacts::uuid_of(int unit) {
  CUuuid uuid{};
  std::memcpy(uuid.bytes, "softgpu", 7);
  uuid.bytes[6] = static_cast<char>(0x80);
  uuid.bytes[8] = static_cast<char>(0x80);
  std::memcpy(uuid.bytes + 9, "cupru", 5);
  uuid.bytes[15] = static_cast<char>(unit);
  return uuid;
}

std::string DeviceFacts::pci_bus_id() const {
  char text[32];
  std::snprintf(text, sizeof text, "0000:%02X:00.0", static_cast<unsigned>(unit() + 1));
  return text;
}

}  // namespace softgpu::runtime
