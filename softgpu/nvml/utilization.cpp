// How busy a device is, and who keeps it so.
#include "softgpu/nvml/busy_meter.hpp"
#include "softgpu/nvml/library.hpp"

using namespace softgpu::nvml;

namespace {

BusyMeter::Reading read_meter(const Library& library, const DeviceFacts& facts) {
  static auto& meter = *new BusyMeter;
  return meter.read(static_cast<unsigned>(facts.ordinal()), [&] { return running_processes(library); });
}

void fill(ProcessUtilization& out, const BusyProcess& process, std::uint64_t timestamp) {
  out = {process.pid, timestamp, process.kernels, process.copies, 0, 0};
}
void fill(ProcessUtilizationInfo& out, const BusyProcess& process, std::uint64_t timestamp) {
  out = {timestamp, process.pid, process.kernels, process.copies, 0, 0, 0, 0};
}

// What was measured after `last_seen`; without room for it, how many there are.
template <typename Info>
Return list_busy(const BusyMeter::Reading& reading, std::uint64_t last_seen, unsigned* count, Info* out) {
  const auto& processes = reading.processes;
  const unsigned capacity = *count;
  *count = static_cast<unsigned>(processes.size());
  if (processes.empty() || reading.timestamp_us <= last_seen) {
    *count = 0;
    return Return::not_found;
  }
  if (out == nullptr || capacity < processes.size()) return Return::insufficient_size;
  for (const BusyProcess& process : processes) fill(*out++, process, reading.timestamp_us);
  return Return::success;
}

}  // namespace

SOFTGPU_NVML nvmlDeviceGetUtilizationRates(DeviceHandle* device, Utilization* utilization) {
  return with_device(
      device,
      [&](const Library& found, const DeviceFacts& facts) {
        const BusyMeter::Reading reading = read_meter(found, facts);
        *utilization = {reading.kernels(), reading.copies()};
        return Return::success;
      },
      utilization);
}

SOFTGPU_NVML nvmlDeviceGetProcessUtilization(DeviceHandle* device, ProcessUtilization* out, unsigned* count,
                                             unsigned long long last_seen) {
  return with_device(
      device,
      [&](const Library& found, const DeviceFacts& facts) {
        return list_busy(read_meter(found, facts), last_seen, count, out);
      },
      count);
}

SOFTGPU_NVML nvmlDeviceGetProcessesUtilizationInfo(DeviceHandle* device, ProcessesUtilizationInfo* info) {
  return with_struct(device, info, 1, [&](const Library& found, const DeviceFacts& facts) {
    return list_busy(read_meter(found, facts), info->last_seen, &info->count, info->processes);
  });
}
