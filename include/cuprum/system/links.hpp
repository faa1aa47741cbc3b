// PCI and NVLink: see <cuprum/system.hpp>.
#pragma once

#include <cuprum/detail/export.hpp>
#include <string>
#include <utility>

struct nvmlDevice_st;

namespace cuprum::inline CUPRUM_ABI::system {

/// Where a device is on PCI, and the link to it.
class CUPRUM_API PciInfo {
 public:
  /// Made by Device::pci_info.
  explicit PciInfo(::nvmlDevice_st* handle);

  unsigned bus() const { return bus_; }                    ///< 0 to 255
  const std::string& bus_id() const { return bus_id_; }    ///< "00000000:65:00.0"
  unsigned device() const { return device_; }              ///< 0 to 31
  unsigned domain() const { return domain_; }              ///< mostly 0
  unsigned vendor_id() const { return ids_ & 0xFFFF; }     ///< 0x10DE is NVIDIA
  unsigned device_id() const { return ids_ >> 16; }        ///< the vendor's number of it
  unsigned subsystem_id() const { return subsystem_id_; }  ///< of the board
  unsigned base_class() const { return base_class_; }      ///< of PCI's classes: 3 is a display
  unsigned sub_class() const { return sub_class_; }        ///< the same

  /// The highest generation that device and slot have together.
  unsigned link_generation() const;
  /// The highest generation that the device has.
  unsigned max_link_generation() const;
  /// The most lanes that device and slot have together.
  unsigned max_link_width() const;
  /// The generation at this moment.
  unsigned current_link_generation() const;
  /// The lanes at this moment.
  unsigned current_link_width() const;
  /// What arrives at the device, in KB/s. Takes 20 ms.
  unsigned rx_throughput() const;
  /// What leaves it, in KB/s. Takes 20 ms.
  unsigned tx_throughput() const;
  /// How often something had to be sent again.
  unsigned replay_counter() const;

 private:
  ::nvmlDevice_st* handle_;
  unsigned bus_ = 0, device_ = 0, domain_ = 0, ids_ = 0, subsystem_id_ = 0, base_class_ = 0, sub_class_ = 0;
  std::string bus_id_;
};

/// One of a device's NVLinks.
class CUPRUM_API NvlinkInfo {
 public:
  /// Made by Device::get_nvlink.
  NvlinkInfo(::nvmlDevice_st* handle, unsigned link) : handle_(handle), link_(link) {}

  /// As (4, 0).
  std::pair<int, int> version() const;
  /// Whether it is in use.
  bool state() const;

 private:
  ::nvmlDevice_st* handle_;
  unsigned link_;
};

}  // namespace cuprum::inline CUPRUM_ABI::system
