// What Linux tells of the processor that softgpu runs on. Empty where it tells nothing, as in most virtual machines.
#pragma once

#include <optional>
#include <string>

namespace softgpu::nvml {

// `root` is what stands before /sys and /proc: empty but in tests.
class HostSensors {
 public:
  explicit HostSensors(std::string root = {}) : root_(std::move(root)) {}

  std::optional<unsigned> clock_mhz() const;      // of the fastest core at this moment
  std::optional<unsigned> max_clock_mhz() const;  // that any core can have
  std::optional<int> celsius() const;
  // From where on the processor slows itself down, and from where on the machine is switched off.
  std::optional<int> celsius_of_slowdown() const;
  std::optional<int> celsius_of_shutdown() const;

 private:
  std::optional<std::string> temperature_sensor() const;  // up to what differs between its files

  const std::string root_;
};

}  // namespace softgpu::nvml
