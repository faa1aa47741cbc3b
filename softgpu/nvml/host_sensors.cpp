#include "softgpu/nvml/host_sensors.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

namespace softgpu::nvml {
namespace {

namespace fs = std::filesystem;

std::optional<long> read_number(const std::string& path) {
  std::ifstream file(path);
  long number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::vector<std::string> entries(const std::string& folder, std::string_view prefix) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().filename().string().starts_with(prefix)) found.push_back(it->path().string());
  std::sort(found.begin(), found.end());
  return found;
}

// The largest that the cores have in a file of theirs, in kHz.
std::optional<unsigned> largest_of_cores(const std::string& root, const char* file) {
  std::optional<unsigned> largest;
  for (const std::string& core : entries(root + "/sys/devices/system/cpu", "cpu"))
    if (const auto khz = read_number(core + "/cpufreq/" + file); khz && *khz > 0)
      largest = std::max(largest.value_or(0), static_cast<unsigned>(*khz / 1000));
  return largest;
}

std::optional<int> degrees(const std::string& path) {
  const auto thousandths = read_number(path);
  return thousandths ? std::optional(static_cast<int>(*thousandths / 1000)) : std::nullopt;
}

}  // namespace

std::optional<unsigned> HostSensors::clock_mhz() const {
  if (const auto found = largest_of_cores(root_, "scaling_cur_freq")) return found;
  std::optional<unsigned> largest;
  std::ifstream file(root_ + "/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("cpu MHz") && line.find(':') != std::string::npos) {
      const double mhz = std::atof(line.c_str() + line.find(':') + 1);
      if (mhz > 0) largest = std::max(largest.value_or(0), static_cast<unsigned>(mhz));
    }
  return largest;
}

std::optional<unsigned> HostSensors::max_clock_mhz() const { return largest_of_cores(root_, "cpuinfo_max_freq"); }

// Drivers of processors, in hwmon; the first sensor of each is that of the package.
std::optional<std::string> HostSensors::temperature_sensor() const {
  constexpr std::array<std::string_view, 4> kProcessors = {"coretemp", "k10temp", "zenpower", "cpu_thermal"};
  for (const std::string& chip : entries(root_ + "/sys/class/hwmon", "hwmon")) {
    const std::string name = read_line(chip + "/name");
    if (std::find(kProcessors.begin(), kProcessors.end(), name) != kProcessors.end() &&
        read_number(chip + "/temp1_input"))
      return chip + "/temp1";
  }
  return std::nullopt;
}

std::optional<int> HostSensors::celsius() const {
  if (const auto sensor = temperature_sensor()) return degrees(*sensor + "_input");
  for (const std::string& zone : entries(root_ + "/sys/class/thermal", "thermal_zone")) {
    const std::string type = read_line(zone + "/type");
    if (type == "x86_pkg_temp" || type == "cpu-thermal" || type == "cpu_thermal") return degrees(zone + "/temp");
  }
  return std::nullopt;
}

std::optional<int> HostSensors::celsius_of_slowdown() const {
  const auto sensor = temperature_sensor();
  return sensor ? degrees(*sensor + "_max") : std::nullopt;
}

std::optional<int> HostSensors::celsius_of_shutdown() const {
  const auto sensor = temperature_sensor();
  return sensor ? degrees(*sensor + "_crit") : std::nullopt;
}

}  // namespace softgpu::nvml
