// Devices that are divided, the infoROM, repairs.
#include <cuprum/system.hpp>

#include "core/system/ask.hpp"

namespace cuprum::inline CUPRUM_ABI::system {
namespace {

using nvml::Api;

struct MigModes {
  bool now, pending;
};

MigModes mig_modes(const Device& device) {
  unsigned now = 0, pending = 0;
  nvml::call<&Api::nvmlDeviceGetMigMode>(device.handle(), &now, &pending);
  return {now == 1, pending == 1};
}

}  // namespace

MigInfo Device::mig() const { return MigInfo(*this); }

bool MigInfo::is_mig_device() const {
  return core::ask_number<&Api::nvmlDeviceIsMigDeviceHandle>(device_.handle()) != 0;
}
bool MigInfo::mode() const { return mig_modes(device_).now; }
bool MigInfo::pending_mode() const { return mig_modes(device_).pending; }
void MigInfo::set_mode(bool enabled) const {
  nvml::Result activation{};
  nvml::call<&Api::nvmlDeviceSetMigMode>(device_.handle(), enabled ? 1u : 0u, &activation);
}
unsigned MigInfo::device_count() const {
  return core::ask_number<&Api::nvmlDeviceGetMaxMigDeviceCount>(device_.handle());
}
Device MigInfo::parent() const {
  return Device::from_handle(
      core::ask<&Api::nvmlDeviceGetDeviceHandleFromMigDeviceHandle, nvml::Device>(device_.handle()));
}
Device MigInfo::get_device_by_index(unsigned index) const {
  return Device::from_handle(
      core::ask<&Api::nvmlDeviceGetMigDeviceHandleByIndex, nvml::Device>(device_.handle(), index));
}
std::vector<Device> MigInfo::get_all_devices() const {
  std::vector<Device> devices;
  for (unsigned i = 0, count = device_count(); i < count; ++i) {
    try {
      devices.push_back(get_device_by_index(i));
    } catch (const LibraryError& error) {
      if (error.code() != static_cast<int>(nvml::Result::not_found)) throw;  // not all that there can be are there
    }
  }
  return devices;
}

std::string InforomInfo::get_version(InforomObject object) const {
  return core::ask_text<&Api::nvmlDeviceGetInforomVersion>(handle_, static_cast<int>(object));
}
std::string InforomInfo::image_version() const {
  return core::ask_text<&Api::nvmlDeviceGetInforomImageVersion>(handle_);
}
unsigned InforomInfo::configuration_checksum() const {
  return core::ask_number<&Api::nvmlDeviceGetInforomConfigurationChecksum>(handle_);
}
void InforomInfo::validate() const { nvml::call<&Api::nvmlDeviceValidateInforom>(handle_); }
std::pair<unsigned long long, unsigned long> InforomInfo::bbx_flush_time() const {
  unsigned long long timestamp = 0;
  unsigned long microseconds = 0;
  nvml::call<&Api::nvmlDeviceGetLastBBXFlushTime>(handle_, &timestamp, &microseconds);
  return {timestamp, microseconds};
}
std::string InforomInfo::board_part_number() const {
  return core::ask_text<&Api::nvmlDeviceGetBoardPartNumber>(handle_);
}

RepairStatus Device::repair_status() const {
  const auto found = core::ask<&Api::nvmlDeviceGetRepairStatus, nvml::RepairStatus>(handle_);
  return {found.channel_pending != 0, found.tpc_pending != 0};
}

}  // namespace cuprum::inline CUPRUM_ABI::system
