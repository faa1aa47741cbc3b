// The infoROM, in which a board says what it is, and repairs: see <cuprum/system.hpp>.
#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/system/enums.hpp>
#include <string>
#include <utility>

struct nvmlDevice_st;

namespace cuprum::inline CUPRUM_ABI::system {

/// The infoROM of a device. All functions throw NotSupported where there is none.
class CUPRUM_API InforomInfo {
 public:
  /// Made by Device::inforom.
  explicit InforomInfo(::nvmlDevice_st* handle) : handle_(handle) {}

  /// The version of a part of it.
  std::string get_version(InforomObject object) const;
  /// The version of the whole.
  std::string image_version() const;
  /// Of what is configured.
  unsigned configuration_checksum() const;
  /// Reads it all and compares its checksums; throws LibraryError when it is damaged.
  void validate() const;
  /// When the board's black box was last written, in microseconds since 1970, and how long that took, in microseconds.
  std::pair<unsigned long long, unsigned long> bbx_flush_time() const;
  /// Of the board.
  std::string board_part_number() const;

 private:
  ::nvmlDevice_st* handle_;
};

/// Repairs that wait for a reset of the device.
struct RepairStatus {
  bool channel_repair_pending = false;  ///< of memory
  bool tpc_repair_pending = false;      ///< of multiprocessors
};

}  // namespace cuprum::inline CUPRUM_ABI::system
