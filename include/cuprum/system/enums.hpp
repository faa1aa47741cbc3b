// The choices and states that <cuprum/system.hpp> speaks of. Their numbers are NVML's.
#pragma once

#include <cuprum/detail/export.hpp>
#include <span>
#include <string_view>

namespace cuprum::inline CUPRUM_ABI::system {

/// The architecture of a device, the older the smaller.
enum class DeviceArch : unsigned {
  kepler = 2,             ///< compute capability 3
  maxwell = 3,            ///< 5
  pascal = 4,             ///< 6
  volta = 5,              ///< 7.0
  turing = 6,             ///< 7.5
  ampere = 7,             ///< 8.0 to 8.7
  ada = 8,                ///< 8.9
  hopper = 9,             ///< 9.0
  blackwell = 10,         ///< 10 and 12
  unknown = 0xFFFFFFFFu,  ///< none of these, such as softgpu
};

/// How a device reaches memory that the host allocated.
enum class AddressingMode : int {
  hmm = 1,  ///< by page tables of its own, which mirror the host's
  ats = 2,  ///< by the host's page tables
};
/// What is meant by near.
enum class AffinityScope : int {
  node = 0,    ///< the NUMA node
  socket = 1,  ///< the processor socket
};
/// Which value of a clock is meant.
enum class ClockId : int {
  current = 0,             ///< that of now
  customer_boost_max = 3,  ///< the most that the manufacturer of the board allows
};
/// Why clocks are lower than they could be.
enum class ClocksEventReasons : int {
  none = 0,                         ///< they are not
  gpu_idle = 1,                     ///< there is nothing to do
  applications_clocks_setting = 2,  ///< somebody has set them
  sw_power_cap = 4,                 ///< the power limit
  hw_slowdown = 8,                  ///< the hardware protects itself
  sync_boost = 16,                  ///< devices that keep in step
  sw_thermal_slowdown = 32,         ///< too hot, says the driver
  hw_thermal_slowdown = 64,         ///< too hot, says the hardware
  hw_power_brake_slowdown = 128,    ///< the power supply asks for it
  display_clock_setting = 256,      ///< the display
};
/// Which clock is meant.
enum class ClockType : int {
  graphics = 0,  ///< of graphics work
  sm = 1,        ///< of the multiprocessors
  memory = 2,    ///< of the device's memory
  video = 3,     ///< of encoders and decoders
};
/// How a cooler is controlled.
enum class CoolerControl : int {
  toggle = 1,    ///< on or off
  variable = 2,  ///< in steps
};
/// What a cooler cools.
enum class CoolerTarget : int {
  none = 1,          ///< nothing
  gpu = 2,           ///< the GPU
  memory = 4,        ///< its memory
  power_supply = 8,  ///< its power supply
};
/// What can happen to a device.
enum class EventType : int {
  none = 0,                          ///< nothing
  single_bit_ecc_error = 1,          ///< a bit was wrong and has been mended
  double_bit_ecc_error = 2,          ///< bits were wrong for good
  pstate = 4,                        ///< the performance state changed
  xid_critical_error = 8,            ///< an error that the driver has a number for, such as a kernel's bad access
  clock = 16,                        ///< a clock changed
  power_source_change = 128,         ///< from the mains to a battery, or back
  mig_config_change = 256,           ///< the device was divided otherwise
  single_bit_ecc_error_storm = 512,  ///< many bits had to be mended
  dram_retirement_event = 1024,      ///< memory was taken out of use
  dram_retirement_failure = 2048,    ///< memory could not be taken out of use
  non_fatal_poison_error = 4096,     ///< bad data was found in time
  fatal_poison_error = 8192,         ///< bad data was used
  gpu_unavailable_error = 16384,     ///< the device can't be reached
  gpu_recovery_action = 32768,       ///< something has to be done to use the device again
};
/// Who decides how fast a fan turns.
enum class FanControlPolicy : int {
  temperature_controlled = 0,  ///< the temperature
  manual = 1,                  ///< the user
};
/// What one device may do with another.
enum class GpuP2PCapsIndex : int {
  read = 0,     ///< read its memory
  write = 1,    ///< write to its memory
  nvlink = 2,   ///< over NVLink
  atomics = 3,  ///< atomic operations in its memory
  pci = 4,      ///< over PCI
  prop = 4,     ///< the older name of pci
  unknown = 5,  ///< anything else
};
/// Whether it may, or what stands in the way.
enum class GpuP2PStatus : int {
  ok = 0,                          ///< it may
  chipset_not_supported = 1,       ///< the chipset
  gpu_not_supported = 2,           ///< one of the devices
  ioh_topology_not_supported = 3,  ///< the way between them
  disabled_by_regkey = 4,          ///< the driver's settings
  not_supported = 5,               ///< it is not offered
  unknown = 6,                     ///< nobody knows
};
/// What two devices have in common, from near to far.
enum class GpuTopologyLevel : int {
  internal = 0,     ///< the board
  single = 10,      ///< one PCIe switch
  multiple = 20,    ///< several PCIe switches
  hostbridge = 30,  ///< the host bridge
  node = 40,        ///< the NUMA node
  system = 50,      ///< the machine
};
/// A part of the infoROM.
enum class InforomObject : int {
  oem = 0,    ///< of the manufacturer
  ecc = 1,    ///< of error correction
  power = 2,  ///< of power management
  den = 3,    ///< of the encryption of memory
};
/// What can happen to the devices of a machine.
enum class SystemEventType : int {
  unbind = 1,  ///< the driver lets go of one
  bind = 2,    ///< the driver takes one
};
/// From where on something happens.
enum class TemperatureThresholds : int {
  shutdown = 0,       ///< the device switches itself off
  slowdown = 1,       ///< it slows itself down
  mem_max = 2,        ///< its memory does
  gpu_max = 3,        ///< the GPU may be slower than its base clock
  acoustic_min = 4,   ///< the least that a target for noise can be
  acoustic_curr = 5,  ///< the target for noise
  acoustic_max = 6,   ///< the most that it can be
  gps_curr = 7,       ///< the target of the platform
};
/// The part that measures a temperature.
enum class ThermalController : int {
  gpu_internal = 1,      ///< the GPU itself
  adm1032 = 2,           ///< the part of that name
  adt7461 = 3,           ///< the part of that name
  max6649 = 4,           ///< the part of that name
  max1617 = 5,           ///< the part of that name
  lm99 = 6,              ///< the part of that name
  lm89 = 7,              ///< the part of that name
  lm64 = 8,              ///< the part of that name
  g781 = 9,              ///< the part of that name
  adt7473 = 10,          ///< the part of that name
  sbmax6649 = 11,        ///< the part of that name
  vbiosevt = 12,         ///< the part of that name
  os = 13,               ///< the operating system
  nvsyscon_canoas = 14,  ///< the part of that name
  nvsyscon_e551 = 15,    ///< the part of that name
  max6649r = 16,         ///< the part of that name
  adt7473s = 17,         ///< the part of that name
  unknown = -1,          ///< another one
};
/// What a temperature is that of.
enum class ThermalTarget : int {
  none = 0,          ///< nothing
  gpu = 1,           ///< the GPU
  memory = 2,        ///< its memory
  power_supply = 4,  ///< its power supply
  board = 8,         ///< the board
  vcd_board = 9,     ///< the board of a visual computing device
  vcd_inlet = 10,    ///< the air that comes into one
  vcd_outlet = 11,   ///< the air that comes out of one
  all = 15,          ///< all of them
};

/// A value of an enumeration with its name, as cuda.core and NVIDIA's documentation write it.
template <typename Enum>
struct EnumName {
  Enum value;             ///< the value
  std::string_view name;  ///< in lower case, such as "customer_boost_max"
};

/// @cond
CUPRUM_API std::span<const EnumName<AddressingMode>> names_like(AddressingMode);
CUPRUM_API std::span<const EnumName<AffinityScope>> names_like(AffinityScope);
CUPRUM_API std::span<const EnumName<ClockId>> names_like(ClockId);
CUPRUM_API std::span<const EnumName<ClocksEventReasons>> names_like(ClocksEventReasons);
CUPRUM_API std::span<const EnumName<ClockType>> names_like(ClockType);
CUPRUM_API std::span<const EnumName<CoolerControl>> names_like(CoolerControl);
CUPRUM_API std::span<const EnumName<CoolerTarget>> names_like(CoolerTarget);
CUPRUM_API std::span<const EnumName<EventType>> names_like(EventType);
CUPRUM_API std::span<const EnumName<FanControlPolicy>> names_like(FanControlPolicy);
CUPRUM_API std::span<const EnumName<GpuP2PCapsIndex>> names_like(GpuP2PCapsIndex);
CUPRUM_API std::span<const EnumName<GpuP2PStatus>> names_like(GpuP2PStatus);
CUPRUM_API std::span<const EnumName<GpuTopologyLevel>> names_like(GpuTopologyLevel);
CUPRUM_API std::span<const EnumName<InforomObject>> names_like(InforomObject);
CUPRUM_API std::span<const EnumName<SystemEventType>> names_like(SystemEventType);
CUPRUM_API std::span<const EnumName<TemperatureThresholds>> names_like(TemperatureThresholds);
CUPRUM_API std::span<const EnumName<ThermalController>> names_like(ThermalController);
CUPRUM_API std::span<const EnumName<ThermalTarget>> names_like(ThermalTarget);
/// @endcond

/// All values of an enumeration with their names.
template <typename Enum>
std::span<const EnumName<Enum>> names() {
  return names_like(Enum{});
}

/// The name of a value; empty for one that has none.
template <typename Enum>
std::string_view to_string(Enum value) {
  for (const EnumName<Enum>& row : names<Enum>())
    if (row.value == value) return row.name;
  return {};
}

}  // namespace cuprum::inline CUPRUM_ABI::system
