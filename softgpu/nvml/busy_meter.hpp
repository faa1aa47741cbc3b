// How busy the devices are: counters of all processes, looked at twice.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "softgpu/usage/page.hpp"

namespace softgpu::nvml {

// Of one process on one device, in percent.
struct BusyProcess {
  std::uint32_t pid = 0;
  unsigned kernels = 0;  // of the time of its workers
  unsigned copies = 0;   // of the time that passed
};

// Thread-safe.
class BusyMeter {
 public:
  struct Reading {
    std::uint64_t timestamp_us = 0;  // when it was taken, since 1970
    std::vector<BusyProcess> processes;
    unsigned kernels() const;  // of all processes together, 100 at most
    unsigned copies() const;
  };

  // What happened since the last look, which is kept for others that look within a tenth of a second. Where there was
  // none, or it is long ago, this one takes that tenth of a second.
  template <typename Look>
  Reading read(unsigned device, Look&& look) {
    const std::scoped_lock lock(mutex_);
    while (const std::uint64_t wait_ns = time_to_next_look()) {
      if (has_fresh_window()) return reading(device);
      sleep(wait_ns);
    }
    note(look());
    if (!has_fresh_window()) {
      sleep(kWindowNs);
      note(look());
    }
    return reading(device);
  }

 private:
  static constexpr std::uint64_t kWindowNs = 100'000'000, kLongAgoNs = 5'000'000'000;

  struct Sample {
    std::uint64_t at_ns = 0, at_us = 0;
    // By process, which may be a later one of the same number.
    std::map<std::pair<std::uint32_t, std::uint64_t>, usage::Page> processes;
  };

  static void sleep(std::uint64_t nanoseconds);
  std::uint64_t time_to_next_look() const;  // 0: now
  bool has_fresh_window() const;
  void note(const std::vector<usage::Page>& pages);
  Reading reading(unsigned device) const;

  std::mutex mutex_;
  Sample before_, last_;
};

}  // namespace softgpu::nvml
