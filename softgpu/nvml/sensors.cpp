// Clocks and temperatures: those of the host's processor, which is what the devices are made of.
#include "softgpu/nvml/host_sensors.hpp"
#include "softgpu/nvml/library.hpp"

using namespace softgpu::nvml;

namespace {

constexpr unsigned kClocks = 4, kGraphicsClock = 0, kMultiprocessorClock = 1, kClockIds = 4, kCurrent = 0;

bool is_of_processor(unsigned clock) { return clock == kGraphicsClock || clock == kMultiprocessorClock; }

template <typename Read>
Return give_clock(const DeviceHandle* device, unsigned clock, unsigned* megahertz, Read read) {
  return with_device(
      device,
      [&](const Library&, const DeviceFacts&) {
        if (clock >= kClocks) return Return::invalid_argument;
        return is_of_processor(clock) ? give(read(), megahertz) : Return::not_supported;
      },
      megahertz);
}

std::optional<unsigned> positive(std::optional<int> celsius) {
  return celsius && *celsius >= 0 ? std::optional(static_cast<unsigned>(*celsius)) : std::nullopt;
}

}  // namespace

SOFTGPU_NVML nvmlDeviceGetClockInfo(DeviceHandle* device, unsigned clock, unsigned* megahertz) {
  return give_clock(device, clock, megahertz, [] { return HostSensors().clock_mhz(); });
}
SOFTGPU_NVML nvmlDeviceGetMaxClockInfo(DeviceHandle* device, unsigned clock, unsigned* megahertz) {
  return give_clock(device, clock, megahertz, [] { return HostSensors().max_clock_mhz(); });
}
SOFTGPU_NVML nvmlDeviceGetClock(DeviceHandle* device, unsigned clock, unsigned id, unsigned* megahertz) {
  if (library() != nullptr && id >= kClockIds) return Return::invalid_argument;
  return give_clock(device, clock, megahertz,
                    [&] { return id == kCurrent ? HostSensors().clock_mhz() : std::nullopt; });
}

SOFTGPU_NVML nvmlDeviceGetTemperature(DeviceHandle* device, unsigned sensor, unsigned* celsius) {
  return with_device(
      device,
      [&](const Library&, const DeviceFacts&) {
        return sensor != 0 ? Return::invalid_argument : give(positive(HostSensors().celsius()), celsius);
      },
      celsius);
}
SOFTGPU_NVML nvmlDeviceGetTemperatureV(DeviceHandle* device, TemperatureV1* temperature) {
  return with_struct(device, temperature, 1, [&](const Library&, const DeviceFacts&) {
    return temperature->sensor != 0 ? Return::invalid_argument : give(HostSensors().celsius(), &temperature->celsius);
  });
}
SOFTGPU_NVML nvmlDeviceGetTemperatureThreshold(DeviceHandle* device, unsigned threshold, unsigned* celsius) {
  constexpr unsigned kShutdown = 0, kSlowdown = 1, kThresholds = 8;
  return with_device(
      device,
      [&](const Library&, const DeviceFacts&) {
        if (threshold >= kThresholds) return Return::invalid_argument;
        if (threshold == kShutdown) return give(positive(HostSensors().celsius_of_shutdown()), celsius);
        if (threshold == kSlowdown) return give(positive(HostSensors().celsius_of_slowdown()), celsius);
        return Return::not_supported;
      },
      celsius);
}
