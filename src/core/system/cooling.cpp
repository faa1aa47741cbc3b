// Temperatures, fans and coolers.
#include <algorithm>
#include <cuprum/system.hpp>

#include "core/system/ask.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI::system {
namespace {

using nvml::Api;

// A value that this release knows, or else another one.
template <typename Enum>
Enum known_or(int number, Enum otherwise) {
  return to_string(static_cast<Enum>(number)).empty() ? otherwise : static_cast<Enum>(number);
}

}  // namespace

CoolerInfo Device::cooler() const {
  const auto found = core::ask<&Api::nvmlDeviceGetCoolerInfo, nvml::CoolerInfo>(handle_);
  CoolerInfo cooler;
  if (!to_string(static_cast<CoolerControl>(found.signal_type)).empty())
    cooler.signal_type = static_cast<CoolerControl>(found.signal_type);
  cooler.target = core::values_of<CoolerTarget>(static_cast<unsigned>(found.target));
  return cooler;
}
unsigned Device::num_fans() const { return core::ask_number<&Api::nvmlDeviceGetNumFans>(handle_); }

FanInfo Device::get_fan(unsigned fan) const {
  if (const unsigned count = num_fans(); fan >= count)
    throw InvalidArgument(support::text("Fan index ", fan, " is out of range [0, ", count, ")"));
  return FanInfo(handle_, fan);
}

unsigned FanInfo::speed() const { return core::ask_number<&Api::nvmlDeviceGetFanSpeed_v2>(handle_, fan_); }
void FanInfo::set_speed(unsigned percent) const { nvml::call<&Api::nvmlDeviceSetFanSpeed_v2>(handle_, fan_, percent); }
unsigned FanInfo::speed_rpm() const {
  nvml::FanSpeed speed;
  speed.fan = fan_;
  nvml::call<&Api::nvmlDeviceGetFanSpeedRPM>(handle_, &speed);
  return speed.speed;
}
unsigned FanInfo::target_speed() const { return core::ask_number<&Api::nvmlDeviceGetTargetFanSpeed>(handle_, fan_); }
std::pair<unsigned, unsigned> FanInfo::min_max_speed() const {
  unsigned least = 0, most = 0;
  nvml::call<&Api::nvmlDeviceGetMinMaxFanSpeed>(handle_, &least, &most);
  return {least, most};
}
FanControlPolicy FanInfo::control_policy() const {
  return static_cast<FanControlPolicy>(core::ask<&Api::nvmlDeviceGetFanControlPolicy_v2, int>(handle_, fan_));
}
void FanInfo::set_default_speed() const { nvml::call<&Api::nvmlDeviceSetDefaultFanSpeed_v2>(handle_, fan_); }

int Temperature::get_sensor() const {
  if (!nvml::api().nvmlDeviceGetTemperatureV)  // drivers before CUDA 12.8
    return static_cast<int>(core::ask_number<&Api::nvmlDeviceGetTemperature>(handle_, nvml::TemperatureSensor::gpu));
  return core::ask<&Api::nvmlDeviceGetTemperatureV, nvml::Temperature>(handle_).celsius;
}
unsigned Temperature::get_threshold(TemperatureThresholds threshold) const {
  return core::ask_number<&Api::nvmlDeviceGetTemperatureThreshold>(handle_, static_cast<int>(threshold));
}
int Temperature::margin() const {
  return core::ask<&Api::nvmlDeviceGetMarginTemperature, nvml::MarginTemperature>(handle_).celsius;
}
std::vector<ThermalSensor> Temperature::get_thermal_settings(ThermalTarget sensor) const {
  const auto found =
      core::ask<&Api::nvmlDeviceGetThermalSettings, nvml::ThermalSettings>(handle_, static_cast<unsigned>(sensor));
  std::vector<ThermalSensor> sensors;
  for (unsigned i = 0; i < std::min<std::size_t>(found.count, std::size(found.sensors)); ++i) {
    const nvml::ThermalSettings::Sensor& row = found.sensors[i];
    sensors.push_back({known_or(row.controller, ThermalController::unknown), row.default_min, row.default_max,
                       row.current, known_or(row.target, ThermalTarget::none)});
  }
  return sensors;
}

}  // namespace cuprum::inline CUPRUM_ABI::system
