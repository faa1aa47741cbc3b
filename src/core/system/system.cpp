#include <charconv>
#include <cuprum/system.hpp>

#include "core/system/ask.hpp"

namespace cuprum::inline CUPRUM_ABI::system {
namespace {

using nvml::Api;

// "580.82.07"
std::vector<int> numbers_of(const std::string& version) {
  std::vector<int> numbers;
  const char *at = version.data(), *end = version.data() + version.size();
  for (int number = 0; at < end; ++at) {
    const auto [rest, error] = std::from_chars(at, end, number);
    if (error != std::errc()) break;
    numbers.push_back(number);
    at = rest;
  }
  return numbers;
}

}  // namespace

std::pair<int, int> get_user_mode_driver_version() {
  const int version = core::ask<&Api::nvmlSystemGetCudaDriverVersion_v2, int>();
  return {version / 1000, version / 10 % 100};
}

std::vector<int> get_kernel_mode_driver_version() {
  return numbers_of(core::ask_text<&Api::nvmlSystemGetDriverVersion>());
}

std::vector<int> get_nvml_version() { return numbers_of(core::ask_text<&Api::nvmlSystemGetNVMLVersion>()); }

std::string get_driver_branch() {
  nvml::DriverBranch branch;
  nvml::call<&Api::nvmlSystemGetDriverBranch>(&branch, static_cast<unsigned>(sizeof branch.branch));
  return branch.branch;
}

unsigned get_num_devices() { return Device::get_device_count(); }

// NVML knows the names of processes that it has listed: see to it that it has.
std::string get_process_name(unsigned pid) {
  for (const Device& device : Device::get_all_devices()) {
    try {
      device.compute_running_processes();
    } catch (const Error&) {
      // it may know the process from elsewhere
    }
  }
  return core::ask_text<&Api::nvmlSystemGetProcessName>(pid);
}

}  // namespace cuprum::inline CUPRUM_ABI::system
