// Temperatures, fans and coolers: see <cuprum/system.hpp>.
#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/system/enums.hpp>
#include <optional>
#include <utility>
#include <vector>

struct nvmlDevice_st;

namespace cuprum::inline CUPRUM_ABI::system {

/// What cools a device.
struct CoolerInfo {
  std::optional<CoolerControl> signal_type;  ///< how it is controlled; empty when that is not known
  std::vector<CoolerTarget> target;          ///< what it cools
};

/// One fan of a device. All functions throw NotSupported where there is no such fan.
class CUPRUM_API FanInfo {
 public:
  /// Made by Device::get_fan.
  FanInfo(::nvmlDevice_st* handle, unsigned fan) : handle_(handle), fan_(fan) {}

  /// In percent of the fastest.
  unsigned speed() const;
  /// Sets it, until set_default_speed() or a restart of the driver. Needs root's rights.
  void set_speed(unsigned percent) const;
  /// In turns per minute.
  unsigned speed_rpm() const;
  /// What it is meant to be, in percent.
  unsigned target_speed() const;
  /// What can be set, in percent.
  std::pair<unsigned, unsigned> min_max_speed() const;
  /// Who decides.
  FanControlPolicy control_policy() const;
  /// Leaves it to the driver again.
  void set_default_speed() const;

 private:
  ::nvmlDevice_st* handle_;
  unsigned fan_;
};

/// What measures a temperature, in degrees Celsius.
struct ThermalSensor {
  ThermalController controller = ThermalController::unknown;  ///< what measures
  int default_min_temp = 0;                                   ///< the least it is made for
  int default_max_temp = 0;                                   ///< the most it is made for
  int current_temp = 0;                                       ///< what it measures
  ThermalTarget target = ThermalTarget::none;                 ///< of what
};

/// The temperatures of a device, in degrees Celsius.
class CUPRUM_API Temperature {
 public:
  /// Made by Device::temperature.
  explicit Temperature(::nvmlDevice_st* handle) : handle_(handle) {}

  /// Of the GPU's die.
  int get_sensor() const;
  /// From where on something happens.
  unsigned get_threshold(TemperatureThresholds threshold) const;
  /// How much it may rise until the device slows down.
  int margin() const;
  /// The sensors of a part of the device.
  std::vector<ThermalSensor> get_thermal_settings(ThermalTarget sensor) const;

 private:
  ::nvmlDevice_st* handle_;
};

}  // namespace cuprum::inline CUPRUM_ABI::system
