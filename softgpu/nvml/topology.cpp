// How the devices stand to each other: they are the same silicon, and reach each other's memory directly.
#include <algorithm>

#include "softgpu/nvml/library.hpp"

using namespace softgpu::nvml;

namespace {

constexpr int kInternal = 0;

// Levels are 0, 10, 20 up to 50.
bool is_level(int level) { return level >= kInternal && level <= 50 && level % 10 == 0; }

// As many as there is room for, and how many there are; a caller without room asks for that alone.
Return list_devices(const std::vector<unsigned>& indices, unsigned* count, DeviceHandle** devices) {
  const unsigned capacity = devices != nullptr ? *count : 0;
  *count = static_cast<unsigned>(indices.size());
  for (unsigned i = 0; i < std::min<unsigned>(capacity, *count); ++i) devices[i] = handle_of(indices[i]);
  return Return::success;
}

Return with_pair(const DeviceHandle* first, const DeviceHandle* second, int* out, int answer) {
  return with_device(
      first,
      [&](const Library& found, const DeviceFacts&) {
        if (device_of(found, second) == nullptr) return Return::invalid_argument;
        *out = answer;
        return Return::success;
      },
      out);
}

}  // namespace

SOFTGPU_NVML nvmlDeviceGetTopologyCommonAncestor(DeviceHandle* first, DeviceHandle* second, int* level) {
  return with_pair(first, second, level, kInternal);
}

SOFTGPU_NVML nvmlDeviceGetTopologyNearestGpus(DeviceHandle* device, int level, unsigned* count,
                                              DeviceHandle** devices) {
  return with_device(
      device,
      [&](const Library& found, const DeviceFacts& facts) {
        if (!is_level(level)) return Return::invalid_argument;
        std::vector<unsigned> others;
        for (unsigned i = 0; level == kInternal && i < found.devices.size(); ++i)
          if (static_cast<int>(i) != facts.ordinal()) others.push_back(i);
        return list_devices(others, count, devices);
      },
      count);
}

SOFTGPU_NVML nvmlSystemGetTopologyGpuSet(unsigned core, unsigned* count, DeviceHandle** devices) {
  return with_library([&](const Library& found) {
    if (count == nullptr) return Return::invalid_argument;
    const bool is_ours = std::find(found.cores.begin(), found.cores.end(), core) != found.cores.end();
    std::vector<unsigned> all;
    for (unsigned i = 0; is_ours && i < found.devices.size(); ++i) all.push_back(i);
    return list_devices(all, count, devices);
  });
}

SOFTGPU_NVML nvmlDeviceOnSameBoard(DeviceHandle* first, DeviceHandle* second, int* same) {
  return with_pair(first, second, same, 0);
}

SOFTGPU_NVML nvmlDeviceGetP2PStatus(DeviceHandle* first, DeviceHandle* second, int capability, int* status) {
  constexpr int kNvlink = 2, kCapabilities = 6, kOk = 0, kNotSupported = 5;
  if (library() != nullptr && (capability < 0 || capability >= kCapabilities)) return Return::invalid_argument;
  return with_pair(first, second, status, capability == kNvlink ? kNotSupported : kOk);
}
