// What devices are, and how they are found.
#include <cuprum/system.hpp>

#include "core/system/ask.hpp"
#include "support/c_string.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI::system {
namespace {

using nvml::Api;

std::string brand_name(int brand) {
  constexpr const char* names[] = {"Unknown",     "Quadro",         "Tesla",        "NVS",        "GRID",
                                   "GeForce",     "Titan",          "NVIDIA vApps", "NVIDIA VPC", "NVIDIA VCS",
                                   "NVIDIA VWS",  "NVIDIA vGaming", "Quadro RTX",   "NVIDIA RTX", "NVIDIA",
                                   "GeForce RTX", "Titan RTX"};
  return brand >= 0 && brand < static_cast<int>(std::size(names)) ? names[brand] : names[0];
}

DeviceArch known_arch(unsigned number) {
  const auto arch = static_cast<DeviceArch>(number);
  return arch >= DeviceArch::kepler && arch <= DeviceArch::blackwell ? arch : DeviceArch::unknown;
}

}  // namespace

Device Device::from_index(unsigned index) {
  return Device(core::ask<&Api::nvmlDeviceGetHandleByIndex_v2, nvml::Device>(index));
}
Device Device::from_uuid(const std::string& uuid) {
  return Device(
      core::ask<&Api::nvmlDeviceGetHandleByUUID, nvml::Device>(support::c_string(uuid, "the UUID of a device")));
}
Device Device::from_pci_bus_id(const std::string& bus_id) {
  return Device(core::ask<&Api::nvmlDeviceGetHandleByPciBusId_v2, nvml::Device>(
      support::c_string(bus_id, "the PCI bus id of a device")));
}
Device Device::from_serial(const std::string& serial) {
  return Device(core::ask<&Api::nvmlDeviceGetHandleBySerial, nvml::Device>(
      support::c_string(serial, "the serial number of a device")));
}

// A part of a device (MIG) has another prefix.
Device Device::from_cuda_device(const cuprum::Device& device) {
  const std::string uuid = device.uuid().to_string();
  try {
    return from_uuid("GPU-" + uuid);
  } catch (const LibraryError&) {
    return from_uuid("MIG-" + uuid);
  }
}

unsigned Device::get_device_count() { return core::ask_number<&Api::nvmlDeviceGetCount_v2>(); }

std::vector<Device> Device::get_all_devices() {
  std::vector<Device> devices;
  for (unsigned i = 0; i < get_device_count(); ++i) devices.push_back(from_index(i));
  return devices;
}

cuprum::Device Device::to_cuda_device() const {
  const std::string wanted = uuid_without_prefix();
  for (const cuprum::Device& device : cuprum::Device::all())
    if (device.uuid().to_string() == wanted) return device;
  throw InvalidArgument(support::text("the CUDA driver does not show the device ", uuid(),
                                      ": CUDA_VISIBLE_DEVICES may hide it, or it is divided (MIG)"));
}

unsigned Device::index() const { return core::ask_number<&Api::nvmlDeviceGetIndex>(handle_); }
std::string Device::uuid() const { return core::ask_text<&Api::nvmlDeviceGetUUID>(handle_); }
std::string Device::uuid_without_prefix() const {
  constexpr std::size_t prefix = 4;
  const std::string text = uuid();
  return text.size() > prefix ? text.substr(prefix) : text;
}
std::string Device::pci_bus_id() const { return pci_info().bus_id(); }
unsigned Device::numa_node_id() const { return core::ask_number<&Api::nvmlDeviceGetNumaNodeId>(handle_); }
DeviceArch Device::arch() const { return known_arch(core::ask_number<&Api::nvmlDeviceGetArchitecture>(handle_)); }
std::string Device::name() const { return core::ask_text<&Api::nvmlDeviceGetName>(handle_); }
std::string Device::brand() const { return brand_name(core::ask<&Api::nvmlDeviceGetBrand, int>(handle_)); }
std::string Device::serial() const { return core::ask_text<&Api::nvmlDeviceGetSerial>(handle_); }
unsigned Device::module_id() const { return core::ask_number<&Api::nvmlDeviceGetModuleId>(handle_); }
unsigned Device::minor_number() const { return core::ask_number<&Api::nvmlDeviceGetMinorNumber>(handle_); }

std::pair<int, int> Device::cuda_compute_capability() const {
  int major = 0, minor = 0;
  nvml::call<&Api::nvmlDeviceGetCudaComputeCapability>(handle_, &major, &minor);
  return {major, minor};
}

DeviceAttributes Device::attributes() const {
  const auto found = core::ask<&Api::nvmlDeviceGetAttributes_v2, nvml::DeviceAttributes>(handle_);
  return {found.multiprocessors,     found.shared_copy_engines,     found.shared_decoders,
          found.shared_encoders,     found.shared_jpeg_engines,     found.shared_ofas,
          found.gpu_instance_slices, found.compute_instance_slices, found.memory_mb};
}

bool Device::is_c2c_enabled() const {
  return core::ask<&Api::nvmlDeviceGetC2cModeInfoV, nvml::C2cModeInfo>(handle_).enabled != 0;
}
bool Device::is_persistence_mode_enabled() const {
  return core::ask_state<&Api::nvmlDeviceGetPersistenceMode>(handle_);
}
void Device::set_persistence_mode_enabled(bool enabled) const {
  nvml::call<&Api::nvmlDeviceSetPersistenceMode>(handle_, enabled ? 1 : 0);
}
std::optional<AddressingMode> Device::addressing_mode() const {
  const unsigned mode = core::ask<&Api::nvmlDeviceGetAddressingMode, nvml::AddressingMode>(handle_).value;
  if (mode != static_cast<unsigned>(AddressingMode::hmm) && mode != static_cast<unsigned>(AddressingMode::ats))
    return {};
  return static_cast<AddressingMode>(mode);
}
bool Device::is_display_connected() const { return core::ask_state<&Api::nvmlDeviceGetDisplayMode>(handle_); }
bool Device::is_display_active() const { return core::ask_state<&Api::nvmlDeviceGetDisplayActive>(handle_); }

}  // namespace cuprum::inline CUPRUM_ABI::system
