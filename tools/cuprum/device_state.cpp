#include "device_state.hpp"

#include <cuprum/error.hpp>
#include <cuprum/nvml.hpp>

#include "terminal.hpp"

namespace cuprum::cli {
namespace {

using nvml::Api;
using nvml::Result;

class Collector {
 public:
  explicit Collector(nvml::Device device) : device_(device) {}

  /// A reading whose function takes the device, perhaps a selector, and a place for the number.
  template <auto Entry, typename... Selector>
  void read(const char* label, const char* key, unsigned divisor, const char* unit, Selector... selector) {
    unsigned number = 0;
    if ((nvml::api().*Entry).function == nullptr) return;
    if (nvml::try_call<Entry>(device_, selector..., &number) != Result::success) return;
    add(label, key, number, std::to_string(number / divisor) + unit);
  }

  void read_memory() {
    nvml::Memory memory{};
    if (nvml::try_call<&Api::nvmlDeviceGetMemoryInfo>(device_, &memory) != Result::success) return;
    add("memory in use", "memory_used_bytes", memory.used, bytes(memory.used) + " of " + bytes(memory.total));
  }

  void read_utilization() {
    nvml::Utilization use{};
    if (nvml::try_call<&Api::nvmlDeviceGetUtilizationRates>(device_, &use) != Result::success) return;
    add("GPU busy", "gpu_utilization_percent", use.gpu, std::to_string(use.gpu) + " %");
    add("memory busy", "memory_utilization_percent", use.memory, std::to_string(use.memory) + " %");
  }

  void read_processes() {
    if (!nvml::api().nvmlDeviceGetComputeRunningProcesses_v3) return;
    std::vector<nvml::ProcessInfo> found(64);
    for (Result result = Result::insufficient_size; result == Result::insufficient_size;) {
      auto count = static_cast<unsigned>(found.size());
      result = nvml::try_call<&Api::nvmlDeviceGetComputeRunningProcesses_v3>(device_, &count, found.data());
      if (result != Result::success && result != Result::insufficient_size) return;
      found.resize(result == Result::success ? count : 2 * found.size());
    }
    for (const nvml::ProcessInfo& process : found) state.processes.push_back(describe(process));
  }

  DeviceState state;

 private:
  static ProcessRow describe(const nvml::ProcessInfo& process) {
    constexpr auto unknown = static_cast<unsigned long long>(-1);
    ProcessRow row{.pid = process.pid};
    if (process.used_gpu_memory != unknown) row.memory = process.used_gpu_memory;
    char name[1024] = "";
    const auto length = static_cast<unsigned>(sizeof name);
    if (nvml::api().nvmlSystemGetProcessName &&
        nvml::try_call<&Api::nvmlSystemGetProcessName>(process.pid, name, length) == Result::success) {
      row.name = name;
    }
    return row;
  }

  template <typename Number>
  void add(const char* label, const char* key, Number number, std::string value) {
    state.readings.push_back({label, key, static_cast<std::int64_t>(number), std::move(value)});
  }

  nvml::Device device_;
};

}  // namespace

DeviceState device_state(const std::string& uuid) {
  try {
    nvml::Device device = nullptr;
    nvml::call<&Api::nvmlDeviceGetHandleByUUID>(("GPU-" + uuid).c_str(), &device);
    Collector out(device);
    out.read_memory();
    out.read_utilization();
    out.read<&Api::nvmlDeviceGetTemperature>("temperature", "temperature_celsius", 1, " °C",
                                             nvml::TemperatureSensor::gpu);
    out.read<&Api::nvmlDeviceGetPowerUsage>("power", "power_milliwatts", 1000, " W");
    out.read<&Api::nvmlDeviceGetEnforcedPowerLimit>("power limit", "power_limit_milliwatts", 1000, " W");
    out.read<&Api::nvmlDeviceGetClockInfo>("clock of multiprocessors", "sm_clock_megahertz", 1, " MHz",
                                           nvml::ClockType::sm);
    out.read<&Api::nvmlDeviceGetClockInfo>("clock of memory", "memory_clock_megahertz", 1, " MHz",
                                           nvml::ClockType::memory);
    out.read<&Api::nvmlDeviceGetFanSpeed>("fan", "fan_percent", 1, " %");
    out.read<&Api::nvmlDeviceGetCurrPcieLinkGeneration>("PCIe generation", "pcie_generation", 1, "");
    out.read<&Api::nvmlDeviceGetCurrPcieLinkWidth>("PCIe lanes", "pcie_width", 1, "");
    out.read_processes();
    return std::move(out.state);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace cuprum::cli
