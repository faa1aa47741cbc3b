#include "softgpu/runtime/work/value_waits.hpp"

#include <algorithm>
#include <chrono>

#include "softgpu/exec/host_signals.hpp"

namespace softgpu::runtime {
namespace {

constexpr std::chrono::microseconds kShortestRest{10}, kLongestRest{500};

}  // namespace

void ValueWaits::add(std::function<bool()> holds, std::function<void()> done) {
  {
    const std::scoped_lock lock(mutex_);
    waits_.push_back({std::move(holds), std::move(done)});
    look_now_ = true;
    if (!started_) exec::start_thread([this] { loop(); });
    started_ = true;
  }
  changed_.notify_one();
}

void ValueWaits::look() {
  {
    const std::scoped_lock lock(mutex_);
    if (waits_.empty()) return;
    look_now_ = true;
  }
  changed_.notify_one();
}

std::list<ValueWaits::Wait> ValueWaits::take_satisfied() {
  std::list<Wait> satisfied;
  const std::scoped_lock lock(mutex_);
  look_now_ = false;
  for (auto it = waits_.begin(); it != waits_.end();) {
    const auto wait = it++;
    if (wait->holds()) satisfied.splice(satisfied.end(), waits_, wait);
  }
  return satisfied;
}

// Rests the longer the less happens.
void ValueWaits::loop() {
  auto rest = kShortestRest;
  for (;;) {
    std::list<Wait> satisfied = take_satisfied();
    for (const Wait& wait : satisfied) wait.done();
    rest = satisfied.empty() ? std::min(2 * rest, kLongestRest) : kShortestRest;
    std::unique_lock lock(mutex_);
    if (waits_.empty())
      changed_.wait(lock, [this] { return look_now_; });
    else if (changed_.wait_for(lock, rest, [this] { return look_now_; }))
      rest = kShortestRest;
  }
}

}  // namespace softgpu::runtime
