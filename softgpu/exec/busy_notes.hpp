// Which seats of a pool run kernels, of which device and for how long: in the process's page of counters, for whoever
// looks at the process from outside (NVML's utilisation). A clock is read once per piece of work, and two numbers are
// stored; the pool's lock is held anyway.
#pragma once

#include <chrono>
#include <cstdint>

#include "softgpu/usage/page.hpp"

namespace softgpu::exec {

// All functions but now() under the pool's lock.
class BusyNotes {
 public:
  using Clock = std::chrono::steady_clock;

  explicit BusyNotes(usage::Page* page) : page_(page) {}

  Clock::time_point now() const { return page_ != nullptr ? Clock::now() : Clock::time_point(); }

  void begin(std::uint32_t seat, std::uint32_t device, Clock::time_point now) {
    if (page_ == nullptr || seat >= page_->seat.size()) return;
    usage::SeatNote& note = page_->seat[seat];
    usage::shared(note.device).store(device, std::memory_order_relaxed);
    usage::shared(note.since_ns).store(nanoseconds(now), std::memory_order_release);
  }

  void end(std::uint32_t seat, Clock::time_point now) {
    if (page_ == nullptr || seat >= page_->seat.size()) return;
    usage::SeatNote& note = page_->seat[seat];
    const std::uint64_t before = note.since_ns;  // 0 for what only had to be dropped
    if (before == 0) return;
    const auto busy = usage::shared(page_->device[note.device].busy_ns);
    busy.store(busy.load(std::memory_order_relaxed) + (nanoseconds(now) - before), std::memory_order_relaxed);
    usage::shared(note.since_ns).store(0, std::memory_order_release);
  }

 private:
  static std::uint64_t nanoseconds(Clock::time_point time) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
  }

  usage::Page* const page_;
};

}  // namespace softgpu::exec
