// Values by number: each has a code of its own.
#include <chrono>

#include "softgpu/nvml/library.hpp"

using namespace softgpu::nvml;

namespace {

constexpr unsigned kNvlinkCount = 91;
constexpr int kUnsignedInt = 1;

long long microseconds_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

// Of all that can be asked for, softgpu knows how many NVLinks there are.
void answer(FieldValue& value) {
  value.timestamp = microseconds_now();
  value.latency = 0;
  value.type = kUnsignedInt;
  value.value.long_number = 0;
  value.result = value.field == kNvlinkCount ? Return::success : Return::not_supported;
}

}  // namespace

SOFTGPU_NVML nvmlDeviceGetFieldValues(DeviceHandle* device, int count, FieldValue* values) {
  return with_device(
      device,
      [&](const Library&, const DeviceFacts&) {
        if (count <= 0) return Return::invalid_argument;
        for (int i = 0; i < count; ++i) answer(values[i]);
        return Return::success;
      },
      values);
}

SOFTGPU_NVML nvmlDeviceClearFieldValues(DeviceHandle* device, int count, FieldValue* values) {
  return with_device(
      device,
      [&](const Library&, const DeviceFacts&) {
        if (count <= 0) return Return::invalid_argument;
        for (int i = 0; i < count; ++i) values[i].result = Return::not_supported;
        return Return::success;
      },
      values);
}
