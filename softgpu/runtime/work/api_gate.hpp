// The gate that calls of the driver go through, so that a process can be locked: calls that come while it is closed
// wait in front of it, and whoever closes it sees when the last one that is inside has left.
//
//   const CallPass pass;                       // waits while the gate is closed
//   if (pass.refusal() != CUDA_SUCCESS) ...    // or will never be let in
//
// Going in and out costs an addition each to a counter that few threads share. A call made from within another one (a
// callback's) belongs to that one. Who waits sleeps, with all signals as they were.
#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace softgpu::runtime {

// There is one in a process. Thread-safe.
class ApiGate {
 public:
  static ApiGate& get();

  void close();
  void open();
  // From now on calls are answered with this code, those that wait too.
  void refuse(CUresult code);
  // Whether no call is inside. True stays true while the gate is closed.
  bool is_empty() const;
  // How many calls wait in front of it.
  unsigned waiting() const { return waiting_.load(); }

 private:
  friend class CallPass;
  enum Position : std::uint32_t { kOpen, kClosed, kRefused };
  struct alignas(64) Counter {
    std::atomic<std::uint32_t> inside{0};
  };
  // Each thread counts in one of them, so that threads stay out of each other's way.
  static constexpr unsigned kCounters = 32;

  void enter(unsigned counter) {
    counters_[counter].inside.fetch_add(1);
    if (position_.load() != kOpen) [[unlikely]]
      enter_slowly(counter);
  }
  void leave(unsigned counter) { counters_[counter].inside.fetch_sub(1, std::memory_order_release); }
  void enter_slowly(unsigned counter);
  void move_to(Position position);

  std::array<Counter, kCounters> counters_;
  std::atomic<std::uint32_t> position_{kOpen};  // what waiting threads sleep on
  std::atomic<std::uint32_t> waiting_{0};
  std::atomic<CUresult> refusal_{CUDA_SUCCESS};
};

// A call that is inside.
class CallPass {
 public:
  CallPass();
  ~CallPass();
  CallPass(const CallPass&) = delete;
  CallPass& operator=(const CallPass&) = delete;

  // Success, or what to answer the call with instead of doing it.
  static CUresult refusal() { return ApiGate::get().refusal_.load(std::memory_order_relaxed); }
};

}  // namespace softgpu::runtime
