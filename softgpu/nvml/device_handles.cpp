// From numbers and names to devices.
#include <cstdio>
#include <cstring>

#include "softgpu/nvml/identity.hpp"
#include "softgpu/nvml/library.hpp"

using namespace softgpu::nvml;

namespace {

template <typename Matches>
Return find_device(DeviceHandle** device, Matches matches) {
  return with_library([&](const Library& found) {
    if (device == nullptr) return Return::invalid_argument;
    for (const DeviceFacts& facts : found.devices)
      if (matches(facts)) {
        *device = handle_of(static_cast<unsigned>(facts.ordinal()));
        return Return::success;
      }
    return Return::not_found;
  });
}

// With "GPU-" or without, as cuda.core asks.
bool is_uuid_of(std::string_view text, const DeviceFacts& facts) {
  const std::string uuid = uuid_text(facts);
  return text == uuid || text == std::string_view(uuid).substr(sizeof "GPU-" - 1);
}

// "domain:bus:device.function", the domain and the function of which may be missing.
bool is_bus_id_of(const char* text, const DeviceFacts& facts) {
  unsigned domain = 0, bus = 0, device = 0, function = 0;
  char rest = 0;
  const bool with_domain = std::sscanf(text, "%x:%x:%x.%x%c", &domain, &bus, &device, &function, &rest) == 4 ||
                           std::sscanf(text, "%x:%x:%x%c", &domain, &bus, &device, &rest) == 3;
  if (!with_domain) {
    domain = function = 0;
    if (std::sscanf(text, "%x:%x.%x%c", &bus, &device, &function, &rest) != 3 &&
        std::sscanf(text, "%x:%x%c", &bus, &device, &rest) != 2)
      return false;
  }
  return domain == 0 && function == 0 && device == 0 && bus == static_cast<unsigned>(facts.ordinal()) + 1;
}

}  // namespace

SOFTGPU_NVML nvmlDeviceGetCount_v2(unsigned* count) {
  return with_library([&](const Library& found) {
    if (count == nullptr) return Return::invalid_argument;
    *count = static_cast<unsigned>(found.devices.size());
    return Return::success;
  });
}
SOFTGPU_NVML nvmlDeviceGetCount(unsigned* count) { return nvmlDeviceGetCount_v2(count); }

SOFTGPU_NVML nvmlDeviceGetHandleByIndex_v2(unsigned index, DeviceHandle** device) {
  return with_library([&](const Library& found) {
    if (device == nullptr || index >= found.devices.size()) return Return::invalid_argument;
    *device = handle_of(index);
    return Return::success;
  });
}
SOFTGPU_NVML nvmlDeviceGetHandleByIndex(unsigned index, DeviceHandle** device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}

SOFTGPU_NVML nvmlDeviceGetHandleByUUID(const char* uuid, DeviceHandle** device) {
  if (library() != nullptr && uuid == nullptr) return Return::invalid_argument;
  return find_device(device, [&](const DeviceFacts& facts) { return is_uuid_of(uuid, facts); });
}

SOFTGPU_NVML nvmlDeviceGetHandleByUUIDV(const Uuid* uuid, DeviceHandle** device) {
  constexpr unsigned kText = 1, kBytes = 2;
  if (library() == nullptr) return Return::uninitialized;
  if (uuid == nullptr || (uuid->type != kText && uuid->type != kBytes)) return Return::invalid_argument;
  if (uuid->version != version_of<Uuid>(1)) return Return::argument_version_mismatch;
  return find_device(device, [&](const DeviceFacts& facts) {
    if (uuid->type == kText) return is_uuid_of({uuid->value.text, strnlen(uuid->value.text, 41)}, facts);
    const CUuuid bytes = facts.uuid();
    return std::memcmp(bytes.bytes, uuid->value.bytes, sizeof bytes.bytes) == 0;
  });
}

SOFTGPU_NVML nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, DeviceHandle** device) {
  if (library() != nullptr && bus_id == nullptr) return Return::invalid_argument;
  return find_device(device, [&](const DeviceFacts& facts) { return is_bus_id_of(bus_id, facts); });
}
SOFTGPU_NVML nvmlDeviceGetHandleByPciBusId(const char* bus_id, DeviceHandle** device) {
  return nvmlDeviceGetHandleByPciBusId_v2(bus_id, device);
}

// The devices have no serial numbers.
SOFTGPU_NVML nvmlDeviceGetHandleBySerial(const char* serial, DeviceHandle** device) {
  if (library() != nullptr && serial == nullptr) return Return::invalid_argument;
  return find_device(device, [](const DeviceFacts&) { return false; });
}
