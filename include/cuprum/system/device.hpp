// A device as NVML knows it: see <cuprum/system.hpp>.
#pragma once

#include <cuprum/device.hpp>
#include <cuprum/system/clock.hpp>
#include <cuprum/system/cooling.hpp>
#include <cuprum/system/enums.hpp>
#include <cuprum/system/fields.hpp>
#include <cuprum/system/inforom.hpp>
#include <cuprum/system/links.hpp>
#include <cuprum/system/memory.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

struct nvmlDevice_st;

namespace cuprum::inline CUPRUM_ABI::system {

class DeviceEvents;
class MigInfo;

/// A device to look at. A plain value; valid as long as the process.
///
/// Every function asks NVML anew. Where the device lacks what is asked for it throws NotSupported, and LibraryError
/// with NVML's words for all else. Threads may share it.
class CUPRUM_API Device {
 public:
  /// The device with that number, which need not be that of cuprum::Device.
  static Device from_index(unsigned index);
  /// The device with that UUID, as "GPU-…" or "MIG-…".
  static Device from_uuid(const std::string& uuid);
  /// The device at that place, as "00000000:65:00.0".
  static Device from_pci_bus_id(const std::string& bus_id);
  /// The device with that serial number on its board.
  static Device from_serial(const std::string& serial);
  /// What NVML calls nvmlDevice_t.
  static Device from_handle(::nvmlDevice_st* handle) { return Device(handle); }
  /// The same device for those who look at it. Throws LibraryError when NVML does not know it.
  static Device from_cuda_device(const cuprum::Device& device);

  /// How many there are.
  static unsigned get_device_count();
  /// All of them, by number.
  static std::vector<Device> get_all_devices();
  /// Those that are near a core of the host.
  static std::vector<Device> get_all_devices_with_cpu_affinity(unsigned cpu_index);

  /// The same device for those who use it. Throws InvalidArgument when the CUDA driver does not show it.
  cuprum::Device to_cuda_device() const;
  /// For NVML's own functions.
  ::nvmlDevice_st* handle() const { return handle_; }

  /// What it is: names and numbers.
  unsigned index() const;
  /// As "GPU-f81d4fae-7dec-41d0-a765-00a0c91e6bf6".
  std::string uuid() const;
  /// As cuprum::Device has it: without "GPU-".
  std::string uuid_without_prefix() const;
  /// As "00000000:65:00.0".
  std::string pci_bus_id() const;
  /// The NUMA node of its memory.
  unsigned numa_node_id() const;
  /// The architecture, by age.
  DeviceArch arch() const;
  /// As "NVIDIA H200".
  std::string name() const;
  /// As "Tesla"; "Unknown" for those without.
  std::string brand() const;
  /// As printed on the board.
  std::string serial() const;
  /// Its place in a machine with several modules.
  unsigned module_id() const;
  /// N of /dev/nvidiaN.
  unsigned minor_number() const;
  /// As (9, 0).
  std::pair<int, int> cuda_compute_capability() const;
  /// What it is made of.
  DeviceAttributes attributes() const;

  /// Whether it is coupled to another chip.
  bool is_c2c_enabled() const;
  /// Whether the driver keeps it initialised when nobody uses it.
  bool is_persistence_mode_enabled() const;
  /// Changes that. Needs root's rights.
  void set_persistence_mode_enabled(bool enabled) const;
  /// How it reaches memory of the host; empty when it doesn't.
  std::optional<AddressingMode> addressing_mode() const;
  /// Whether a display is connected.
  bool is_display_connected() const;
  /// Whether one is in use.
  bool is_display_active() const;

  /// The parts it is divided into.
  MigInfo mig() const;
  /// What is written on its board.
  InforomInfo inforom() const { return InforomInfo(handle_); }
  /// Repairs that wait for a reset.
  RepairStatus repair_status() const;

  /// How much memory it has and uses.
  MemoryInfo memory_info() const;
  /// The window to its memory.
  BAR1MemoryInfo bar1_memory_info() const;
  /// How busy it is.
  Utilization utilization() const;
  /// The processes that have a context on it.
  std::vector<ProcessInfo> compute_running_processes() const;

  /// One of its clocks.
  ClockInfo get_clock(ClockType type) const { return ClockInfo(handle_, type); }
  /// Whether clocks are raised by themselves: now, and by default.
  std::pair<bool, bool> is_auto_boosted_clocks_enabled() const;
  /// Why clocks are lower than they could be.
  std::vector<ClocksEventReasons> current_clock_event_reasons() const;
  /// The reasons that it can tell.
  std::vector<ClocksEventReasons> supported_clock_event_reasons() const;
  /// 0 (fastest) to 15; empty when it is not known.
  std::optional<int> performance_state() const;
  /// Those that it has.
  std::vector<int> supported_pstates() const;
  /// How busy its parts are: graphics, memory, video, bus, and four that are not used.
  std::vector<GpuDynamicPstatesUtilization> dynamic_pstates_info() const;

  /// What cools it.
  CoolerInfo cooler() const;
  /// How many fans it has.
  unsigned num_fans() const;
  /// One of its fans. Throws InvalidArgument for one that there is not.
  FanInfo get_fan(unsigned fan = 0) const;
  /// Its temperatures.
  Temperature temperature() const { return Temperature(handle_); }

  /// Its place on PCI. Throws InvalidArgument for a part of a device, which has none.
  PciInfo pci_info() const { return PciInfo(handle_); }
  /// One of its NVLinks. Throws InvalidArgument for one that there is not.
  NvlinkInfo get_nvlink(unsigned link) const;
  /// How many it has.
  unsigned get_nvlink_count() const;
  /// All of them.
  std::vector<NvlinkInfo> get_nvlinks() const;
  /// The devices that have no more than `level` between them and this one.
  std::vector<Device> get_topology_nearest_gpus(GpuTopologyLevel level) const;

  /// Nodes of memory that are near.
  std::vector<unsigned> get_memory_affinity(AffinityScope scope = AffinityScope::node) const;
  /// Cores that are near.
  std::vector<unsigned> get_cpu_affinity(AffinityScope scope = AffinityScope::node) const;
  /// Has the calling thread run on cores that are near.
  void set_cpu_affinity() const;
  /// Lets it run on all of them again.
  void clear_cpu_affinity() const;

  /// Values by number.
  FieldValues get_field_values(const std::vector<Field>& fields) const;
  /// Sets those that count back to 0.
  void clear_field_values(const std::vector<Field>& fields) const;

  /// What it can tell when it happens.
  std::vector<EventType> get_supported_event_types() const;
  /// Waits for such events from now on.
  DeviceEvents register_events(const std::vector<EventType>& events) const;

  friend bool operator==(const Device&, const Device&) = default;

 private:
  explicit Device(::nvmlDevice_st* handle) : handle_(handle) {}

  ::nvmlDevice_st* handle_;
};

/// What two devices have in common.
CUPRUM_API GpuTopologyLevel get_topology_common_ancestor(const Device& device1, const Device& device2);
/// Whether one device may use the other in that way.
CUPRUM_API GpuP2PStatus get_p2p_status(const Device& device1, const Device& device2, GpuP2PCapsIndex index);

/// A GPU that is divided into several (MIG), or a part of one.
class CUPRUM_API MigInfo {
 public:
  /// Made by Device::mig.
  explicit MigInfo(const Device& device) : device_(device) {}

  /// Whether this is a part.
  bool is_mig_device() const;
  /// Whether the device is divided.
  bool mode() const;
  /// Divides it, or no longer: from the next reset on. Needs root's rights.
  void set_mode(bool enabled) const;
  /// Whether it will be after the next reset.
  bool pending_mode() const;
  /// The most parts there can be.
  unsigned device_count() const;
  /// The device that this is a part of.
  Device parent() const;
  /// One of the parts. Throws LibraryError where there is none of that number.
  Device get_device_by_index(unsigned index) const;
  /// All parts that there are.
  std::vector<Device> get_all_devices() const;

 private:
  Device device_;
};

}  // namespace cuprum::inline CUPRUM_ABI::system
