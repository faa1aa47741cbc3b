// What a device is.
#include "softgpu/nvml/identity.hpp"

#include <cstdio>

#include "softgpu/nvml/library.hpp"

namespace softgpu::nvml {

std::string uuid_text(const DeviceFacts& facts) {
  const CUuuid uuid = facts.uuid();
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits;
  }
  return text;
}

namespace {

template <typename Number>
Return give_fact(const DeviceHandle* handle, Number* out, Number (*fact)(const DeviceFacts&)) {
  return with_device(
      handle,
      [&](const Library&, const DeviceFacts& facts) {
        *out = fact(facts);
        return Return::success;
      },
      out);
}

template <std::size_t capacity>
void write_bus_id(char (&to)[capacity], const char* format, const DeviceFacts& facts) {
  std::snprintf(to, capacity, format, 0u, static_cast<unsigned>(facts.ordinal()) + 1, 0u);
}

// There is no such device on the bus: vendor and class are those of nobody.
template <typename Info>
void fill_place(Info& info, const DeviceFacts& facts) {
  info.domain = info.device = info.device_id = info.subsystem_id = 0;
  info.bus = static_cast<unsigned>(facts.ordinal()) + 1;
}

}  // namespace
}  // namespace softgpu::nvml

using namespace softgpu::nvml;

SOFTGPU_NVML nvmlDeviceGetName(DeviceHandle* device, char* name, unsigned length) {
  return with_device(
      device, [&](const Library&, const DeviceFacts& facts) { return give_text(facts.name(), name, length); }, name);
}

SOFTGPU_NVML nvmlDeviceGetUUID(DeviceHandle* device, char* uuid, unsigned length) {
  return with_device(
      device, [&](const Library&, const DeviceFacts& facts) { return give_text(uuid_text(facts), uuid, length); },
      uuid);
}

SOFTGPU_NVML nvmlDeviceGetIndex(DeviceHandle* device, unsigned* index) {
  return give_fact<unsigned>(device, index, [](const DeviceFacts& facts) { return unsigned(facts.ordinal()); });
}

// None of NVIDIA's brands and architectures; what it can do is the compute capability's to say.
SOFTGPU_NVML nvmlDeviceGetBrand(DeviceHandle* device, int* brand) {
  return give_fact<int>(device, brand, [](const DeviceFacts&) { return 0; });
}
SOFTGPU_NVML nvmlDeviceGetArchitecture(DeviceHandle* device, unsigned* architecture) {
  return give_fact<unsigned>(device, architecture, [](const DeviceFacts&) { return 0xFFFFFFFFu; });
}

SOFTGPU_NVML nvmlDeviceGetCudaComputeCapability(DeviceHandle* device, int* major, int* minor) {
  return with_device(
      device,
      [&](const Library&, const DeviceFacts& facts) {
        *major = static_cast<int>(facts.compute_capability() / 10);
        *minor = static_cast<int>(facts.compute_capability() % 10);
        return Return::success;
      },
      major, minor);
}

SOFTGPU_NVML nvmlDeviceGetPciInfo_v3(DeviceHandle* device, PciInfo* info) {
  return with_device(
      device,
      [&](const Library&, const DeviceFacts& facts) {
        fill_place(*info, facts);
        write_bus_id(info->bus_id, "%08X:%02X:%02X.0", facts);
        write_bus_id(info->legacy_bus_id, "%04X:%02X:%02X.0", facts);
        return Return::success;
      },
      info);
}
SOFTGPU_NVML nvmlDeviceGetPciInfo_v2(DeviceHandle* device, PciInfoV2* info) {
  return with_device(
      device,
      [&](const Library&, const DeviceFacts& facts) {
        *info = {};
        fill_place(*info, facts);
        write_bus_id(info->bus_id, "%04X:%02X:%02X.0", facts);
        return Return::success;
      },
      info);
}
SOFTGPU_NVML nvmlDeviceGetPciInfo(DeviceHandle* device, PciInfoV2* info) {
  return nvmlDeviceGetPciInfo_v2(device, info);
}
SOFTGPU_NVML nvmlDeviceGetPciInfoExt(DeviceHandle* device, PciInfoExt* info) {
  return with_struct(device, info, 1, [&](const Library&, const DeviceFacts& facts) {
    fill_place(*info, facts);
    info->base_class = info->sub_class = 0;
    write_bus_id(info->bus_id, "%08X:%02X:%02X.0", facts);
    return Return::success;
  });
}

// Without a display, a board with others, a driver that stays when nobody uses it, parts, or fans.
SOFTGPU_NVML nvmlDeviceGetDisplayMode(DeviceHandle* device, int* enabled) {
  return give_fact<int>(device, enabled, [](const DeviceFacts&) { return 0; });
}
SOFTGPU_NVML nvmlDeviceGetDisplayActive(DeviceHandle* device, int* enabled) {
  return nvmlDeviceGetDisplayMode(device, enabled);
}
SOFTGPU_NVML nvmlDeviceGetMultiGpuBoard(DeviceHandle* device, unsigned* many) {
  return give_fact<unsigned>(device, many, [](const DeviceFacts&) { return 0u; });
}
SOFTGPU_NVML nvmlDeviceGetPersistenceMode(DeviceHandle* device, int* enabled) {
  return nvmlDeviceGetDisplayMode(device, enabled);
}
SOFTGPU_NVML nvmlDeviceSetPersistenceMode(DeviceHandle* device, int enabled) {
  return with_device(device, [&](const Library&, const DeviceFacts&) {
    if (enabled != 0 && enabled != 1) return Return::invalid_argument;
    return enabled == 0 ? Return::success : Return::not_supported;
  });
}
SOFTGPU_NVML nvmlDeviceIsMigDeviceHandle(DeviceHandle* device, unsigned* is_one) {
  return nvmlDeviceGetMultiGpuBoard(device, is_one);
}
SOFTGPU_NVML nvmlDeviceGetMaxMigDeviceCount(DeviceHandle* device, unsigned* count) {
  return nvmlDeviceGetMultiGpuBoard(device, count);
}
SOFTGPU_NVML nvmlDeviceGetNumFans(DeviceHandle* device, unsigned* fans) {
  return nvmlDeviceGetMultiGpuBoard(device, fans);
}

// Any number of processes may use it at the same time.
SOFTGPU_NVML nvmlDeviceGetComputeMode(DeviceHandle* device, int* mode) {
  return nvmlDeviceGetDisplayMode(device, mode);
}

// Kernels use the host's memory, by the host's page tables.
SOFTGPU_NVML nvmlDeviceGetAddressingMode(DeviceHandle* device, AddressingMode* mode) {
  constexpr unsigned kByHostPageTables = 2;
  return with_struct(device, mode, 1, [&](const Library&, const DeviceFacts&) {
    mode->value = kByHostPageTables;
    return Return::success;
  });
}
