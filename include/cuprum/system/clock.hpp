// Clocks and performance states: see <cuprum/system.hpp>.
#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/system/enums.hpp>
#include <utility>

struct nvmlDevice_st;

namespace cuprum::inline CUPRUM_ABI::system {

/// How far a clock is moved from where it would be, in MHz.
struct ClockOffsets {
  int clock_offset_mhz = 0;  ///< now
  int max_offset_mhz = 0;    ///< the most that it can be
  int min_offset_mhz = 0;    ///< the least that it can be
};

/// One of a device's clocks. Performance states are 0 (fastest) to 15. All functions throw NotSupported where the
/// device does not tell, and InvalidArgument for states that there are not.
class CUPRUM_API ClockInfo {
 public:
  /// Made by Device::get_clock.
  ClockInfo(::nvmlDevice_st* handle, ClockType type) : handle_(handle), type_(type) {}

  /// Its value, in MHz.
  unsigned get_current_mhz(ClockId id = ClockId::current) const;
  /// The most that it can be.
  unsigned get_max_mhz() const;
  /// The most that the manufacturer of the board allows.
  unsigned get_max_customer_boost_mhz() const;
  /// The least and the most of a performance state.
  std::pair<unsigned, unsigned> get_min_max_clock_of_pstate_mhz(int pstate) const;
  /// How far it is moved in a performance state.
  ClockOffsets get_offsets(int pstate) const;

 private:
  ::nvmlDevice_st* handle_;
  ClockType type_;
};

/// How busy a part of a device is, and when that changes its clocks.
struct GpuDynamicPstatesUtilization {
  bool is_present = false;     ///< whether the device has this part
  unsigned percentage = 0;     ///< how busy it is
  unsigned inc_threshold = 0;  ///< from where on clocks go up, in percent
  unsigned dec_threshold = 0;  ///< below which they go down, in percent
};

}  // namespace cuprum::inline CUPRUM_ABI::system
