// PCI, NVLink, and how devices stand to each other and to the host.
#include <unistd.h>

#include <cuprum/system.hpp>

#include "core/system/ask.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI::system {
namespace {

using nvml::Api;

constexpr unsigned nvlink_count_field = 91;

std::vector<Device> devices_of(const std::vector<nvml::Device>& handles) {
  std::vector<Device> devices;
  for (const nvml::Device handle : handles) devices.push_back(Device::from_handle(handle));
  return devices;
}

// First how many there are, then which.
template <typename List>
std::vector<Device> list_devices(List list) {
  unsigned count = 0;
  list(&count, nullptr);
  std::vector<nvml::Device> handles(count);
  if (count > 0) list(&count, handles.data());
  handles.resize(std::min<std::size_t>(count, handles.size()));
  return devices_of(handles);
}

// A bit for each core of the host.
std::vector<unsigned long> words_for_cores() {
  constexpr std::size_t bits = 8 * sizeof(unsigned long);
  const long cores = sysconf(_SC_NPROCESSORS_CONF);
  return std::vector<unsigned long>((static_cast<std::size_t>(cores > 0 ? cores : 1) + bits - 1) / bits);
}

}  // namespace

PciInfo::PciInfo(::nvmlDevice_st* handle) : handle_(handle) {
  nvml::PciInfoExt info;
  const nvml::Result result = nvml::try_call<&Api::nvmlDeviceGetPciInfoExt>(handle, &info);
  if (result == nvml::Result::invalid_argument) throw InvalidArgument("this device does not have PCI attributes");
  if (result != nvml::Result::success) core::raise_nvml_error(static_cast<int>(result), "nvmlDeviceGetPciInfoExt");
  bus_ = info.bus;
  device_ = info.device;
  domain_ = info.domain;
  ids_ = info.device_id;
  subsystem_id_ = info.subsystem_id;
  base_class_ = info.base_class;
  sub_class_ = info.sub_class;
  bus_id_ = info.bus_id;
}

unsigned PciInfo::link_generation() const {
  return core::ask_number<&Api::nvmlDeviceGetMaxPcieLinkGeneration>(handle_);
}
unsigned PciInfo::max_link_generation() const {
  return core::ask_number<&Api::nvmlDeviceGetGpuMaxPcieLinkGeneration>(handle_);
}
unsigned PciInfo::max_link_width() const { return core::ask_number<&Api::nvmlDeviceGetMaxPcieLinkWidth>(handle_); }
unsigned PciInfo::current_link_generation() const {
  return core::ask_number<&Api::nvmlDeviceGetCurrPcieLinkGeneration>(handle_);
}
unsigned PciInfo::current_link_width() const { return core::ask_number<&Api::nvmlDeviceGetCurrPcieLinkWidth>(handle_); }
unsigned PciInfo::rx_throughput() const {
  return core::ask_number<&Api::nvmlDeviceGetPcieThroughput>(handle_, nvml::PcieCounter::rx_bytes);
}
unsigned PciInfo::tx_throughput() const {
  return core::ask_number<&Api::nvmlDeviceGetPcieThroughput>(handle_, nvml::PcieCounter::tx_bytes);
}
unsigned PciInfo::replay_counter() const { return core::ask_number<&Api::nvmlDeviceGetPcieReplayCounter>(handle_); }

std::pair<int, int> NvlinkInfo::version() const {
  constexpr std::pair<int, int> versions[] = {{0, 0}, {1, 0}, {2, 0}, {2, 2}, {3, 0}, {3, 1}, {4, 0}, {5, 0}, {6, 0}};
  const unsigned found = core::ask_number<&Api::nvmlDeviceGetNvLinkVersion>(handle_, link_);
  if (found == 0 || found >= std::size(versions))
    throw NotSupported(support::text("the device says that NVLink ", link_, " is of version number ", found,
                                     ", and 1 to 8 are known"));
  return versions[found];
}
bool NvlinkInfo::state() const { return core::ask_state<&Api::nvmlDeviceGetNvLinkState>(handle_, link_); }

unsigned Device::get_nvlink_count() const {
  const FieldValue::Value count = get_field_values({{nvlink_count_field}}).front().value();
  return std::visit([](auto number) { return static_cast<unsigned>(number); }, count);
}
NvlinkInfo Device::get_nvlink(unsigned link) const {
  if (const unsigned count = get_nvlink_count(); link >= count)
    throw InvalidArgument(support::text("Link index ", link, " is out of range [0, ", count, ")"));
  return NvlinkInfo(handle_, link);
}
std::vector<NvlinkInfo> Device::get_nvlinks() const {
  std::vector<NvlinkInfo> links;
  for (unsigned i = 0, count = get_nvlink_count(); i < count; ++i) links.emplace_back(handle_, i);
  return links;
}

std::vector<Device> Device::get_all_devices_with_cpu_affinity(unsigned cpu_index) {
  return list_devices([&](unsigned* count, nvml::Device* devices) {
    nvml::call<&Api::nvmlSystemGetTopologyGpuSet>(cpu_index, count, devices);
  });
}
std::vector<Device> Device::get_topology_nearest_gpus(GpuTopologyLevel level) const {
  return list_devices([&](unsigned* count, nvml::Device* devices) {
    nvml::call<&Api::nvmlDeviceGetTopologyNearestGpus>(handle_, static_cast<int>(level), count, devices);
  });
}
GpuTopologyLevel get_topology_common_ancestor(const Device& device1, const Device& device2) {
  return static_cast<GpuTopologyLevel>(
      core::ask<&Api::nvmlDeviceGetTopologyCommonAncestor, int>(device1.handle(), device2.handle()));
}
GpuP2PStatus get_p2p_status(const Device& device1, const Device& device2, GpuP2PCapsIndex index) {
  const auto status = static_cast<GpuP2PStatus>(
      core::ask<&Api::nvmlDeviceGetP2PStatus, int>(device1.handle(), device2.handle(), static_cast<int>(index)));
  return to_string(status).empty() ? GpuP2PStatus::unknown : status;
}

std::vector<unsigned> Device::get_memory_affinity(AffinityScope scope) const {
  std::vector<unsigned long> words = words_for_cores();
  nvml::call<&Api::nvmlDeviceGetMemoryAffinity>(handle_, static_cast<unsigned>(words.size()), words.data(),
                                                static_cast<int>(scope));
  return core::bits_of(words);
}
std::vector<unsigned> Device::get_cpu_affinity(AffinityScope scope) const {
  std::vector<unsigned long> words = words_for_cores();
  nvml::call<&Api::nvmlDeviceGetCpuAffinityWithinScope>(handle_, static_cast<unsigned>(words.size()), words.data(),
                                                        static_cast<int>(scope));
  return core::bits_of(words);
}
void Device::set_cpu_affinity() const { nvml::call<&Api::nvmlDeviceSetCpuAffinity>(handle_); }
void Device::clear_cpu_affinity() const { nvml::call<&Api::nvmlDeviceClearCpuAffinity>(handle_); }

}  // namespace cuprum::inline CUPRUM_ABI::system
