#include "softgpu/nvml/busy_meter.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "softgpu/usage/running.hpp"

namespace softgpu::nvml {
namespace {

unsigned percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return 0;
  return static_cast<unsigned>(std::min<std::uint64_t>(100, (100 * part + whole / 2) / whole));
}

unsigned sum(const std::vector<BusyProcess>& processes, unsigned BusyProcess::* what) {
  unsigned all = 0;
  for (const BusyProcess& process : processes) all += process.*what;
  return std::min(all, 100u);
}

}  // namespace

unsigned BusyMeter::Reading::kernels() const { return sum(processes, &BusyProcess::kernels); }
unsigned BusyMeter::Reading::copies() const { return sum(processes, &BusyProcess::copies); }

void BusyMeter::sleep(std::uint64_t nanoseconds) { std::this_thread::sleep_for(std::chrono::nanoseconds(nanoseconds)); }

std::uint64_t BusyMeter::time_to_next_look() const {
  if (last_.at_ns == 0) return 0;
  const std::uint64_t due = last_.at_ns + kWindowNs, now = usage::now_ns();
  return now >= due ? 0 : due - now;
}

bool BusyMeter::has_fresh_window() const { return before_.at_ns != 0 && last_.at_ns - before_.at_ns <= kLongAgoNs; }

void BusyMeter::note(const std::vector<usage::Page>& pages) {
  before_ = std::move(last_);
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  last_ = {};
  last_.at_ns = usage::now_ns();
  last_.at_us = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(since_1970).count());
  for (const usage::Page& page : pages) last_.processes.insert({{page.pid, page.start_time}, page});
}

BusyMeter::Reading BusyMeter::reading(unsigned device) const {
  Reading result{last_.at_us, {}};
  const std::uint64_t window = last_.at_ns - before_.at_ns;
  for (const auto& [process, page] : last_.processes) {
    if (page.device[device].contexts == 0) continue;
    std::uint64_t busy = usage::busy_ns(page, device, last_.at_ns), copies = page.device[device].copy_ns;
    if (const auto found = before_.processes.find(process); found != before_.processes.end()) {
      busy -= std::min(busy, usage::busy_ns(found->second, device, before_.at_ns));
      copies -= std::min(copies, found->second.device[device].copy_ns);
    }
    result.processes.push_back({process.first, percent(busy, window * page.seats), percent(copies, window)});
  }
  return result;
}

}  // namespace softgpu::nvml
