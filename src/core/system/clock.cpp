// Clocks and performance states.
#include <cuprum/system.hpp>

#include "core/system/ask.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI::system {
namespace {

using nvml::Api;

constexpr int states = 16, unknown_state = 32;

void check_state(int pstate) {
  if (pstate < 0 || pstate >= states)
    throw InvalidArgument(support::text("there is no performance state ", pstate, ": they are 0 (fastest) to 15"));
}

int number_of(ClockType type) { return static_cast<int>(type); }

}  // namespace

unsigned ClockInfo::get_current_mhz(ClockId id) const {
  return core::ask_number<&Api::nvmlDeviceGetClock>(handle_, number_of(type_), static_cast<int>(id));
}
unsigned ClockInfo::get_max_mhz() const {
  return core::ask_number<&Api::nvmlDeviceGetMaxClockInfo>(handle_, static_cast<nvml::ClockType>(type_));
}
unsigned ClockInfo::get_max_customer_boost_mhz() const {
  return core::ask_number<&Api::nvmlDeviceGetMaxCustomerBoostClock>(handle_, number_of(type_));
}
std::pair<unsigned, unsigned> ClockInfo::get_min_max_clock_of_pstate_mhz(int pstate) const {
  check_state(pstate);
  unsigned least = 0, most = 0;
  nvml::call<&Api::nvmlDeviceGetMinMaxClockOfPState>(handle_, number_of(type_), pstate, &least, &most);
  return {least, most};
}
ClockOffsets ClockInfo::get_offsets(int pstate) const {
  check_state(pstate);
  nvml::ClockOffset offset;
  offset.type = number_of(type_);
  offset.pstate = pstate;
  nvml::call<&Api::nvmlDeviceGetClockOffsets>(handle_, &offset);
  return {offset.offset, offset.most, offset.least};
}

std::pair<bool, bool> Device::is_auto_boosted_clocks_enabled() const {
  int now = 0, by_default = 0;
  nvml::call<&Api::nvmlDeviceGetAutoBoostedClocksEnabled>(handle_, &now, &by_default);
  return {now == 1, by_default == 1};
}
std::vector<ClocksEventReasons> Device::current_clock_event_reasons() const {
  return core::values_of<ClocksEventReasons>(
      core::ask<&Api::nvmlDeviceGetCurrentClocksEventReasons, unsigned long long>(handle_));
}
std::vector<ClocksEventReasons> Device::supported_clock_event_reasons() const {
  return core::values_of<ClocksEventReasons>(
      core::ask<&Api::nvmlDeviceGetSupportedClocksEventReasons, unsigned long long>(handle_));
}

std::optional<int> Device::performance_state() const {
  const int state = core::ask<&Api::nvmlDeviceGetPerformanceState, int>(handle_);
  return state == unknown_state ? std::nullopt : std::optional(state);
}
std::vector<int> Device::supported_pstates() const {
  std::vector<int> found(states, unknown_state);
  nvml::call<&Api::nvmlDeviceGetSupportedPerformanceStates>(handle_, found.data(),
                                                            static_cast<unsigned>(sizeof(int) * found.size()));
  std::erase(found, unknown_state);
  return found;
}
std::vector<GpuDynamicPstatesUtilization> Device::dynamic_pstates_info() const {
  const auto found = core::ask<&Api::nvmlDeviceGetDynamicPstatesInfo, nvml::DynamicPstates>(handle_);
  std::vector<GpuDynamicPstatesUtilization> parts;
  for (const auto& part : found.utilization)
    parts.push_back({part.is_present != 0, part.percentage, part.inc_threshold, part.dec_threshold});
  return parts;
}

}  // namespace cuprum::inline CUPRUM_ABI::system
