// Who uses a device, and how much.
#include <cuprum/system.hpp>

#include "core/system/ask.hpp"

namespace cuprum::inline CUPRUM_ABI::system {
namespace {

using nvml::Api;
using nvml::Result;

template <typename Number>
std::optional<Number> known(Number number) {
  if (number == static_cast<Number>(-1)) return std::nullopt;  // all bits set
  return number;
}

}  // namespace

MemoryInfo Device::memory_info() const {
  const auto found = core::ask<&Api::nvmlDeviceGetMemoryInfo_v2, nvml::MemoryWithReserve>(handle_);
  return {found.free, found.total, found.used, found.reserved};
}

BAR1MemoryInfo Device::bar1_memory_info() const {
  const auto found = core::ask<&Api::nvmlDeviceGetBAR1MemoryInfo, nvml::Bar1Memory>(handle_);
  return {found.free, found.total, found.used};
}

Utilization Device::utilization() const {
  const auto found = core::ask<&Api::nvmlDeviceGetUtilizationRates, nvml::Utilization>(handle_);
  return {found.gpu, found.memory};
}

// There may be more of them by the time that the list is asked for.
std::vector<ProcessInfo> Device::compute_running_processes() const {
  std::vector<nvml::ProcessInfo> found(16);
  for (;;) {
    auto count = static_cast<unsigned>(found.size());
    const Result result = nvml::try_call<&Api::nvmlDeviceGetComputeRunningProcesses_v3>(handle_, &count, found.data());
    if (result == Result::insufficient_size) {
      found.resize(2 * std::max<std::size_t>(count, found.size()));
      continue;
    }
    if (result != Result::success)
      core::raise_nvml_error(static_cast<int>(result), "nvmlDeviceGetComputeRunningProcesses_v3");
    found.resize(count);
    break;
  }
  std::vector<ProcessInfo> processes;
  for (const nvml::ProcessInfo& process : found)
    processes.push_back({process.pid, known(process.used_gpu_memory), known(process.gpu_instance_id),
                         known(process.compute_instance_id)});
  return processes;
}

}  // namespace cuprum::inline CUPRUM_ABI::system

void cuprum::core::raise_nvml_error(int code, const char* call) {
  const char* words = nvml::api().nvmlErrorString ? nvml::api().nvmlErrorString(static_cast<nvml::Result>(code)) : "";
  LibraryError error({"NVML", nvml::info().path, call, code, words});
  if (code == static_cast<int>(nvml::Result::not_supported)) throw NotSupported(error.what(), code);
  throw error;
}
