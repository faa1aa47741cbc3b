// For sections of a few instructions.
#pragma once

#include <atomic>
#include <thread>

namespace softgpu::runtime {

class SpinLock {
 public:
  void lock() {
    for (int tries = 0; locked_.test_and_set(std::memory_order_acquire); ++tries)
      if (tries > 64) std::this_thread::yield();
  }
  void unlock() { locked_.clear(std::memory_order_release); }

 private:
  std::atomic_flag locked_;
};

}  // namespace softgpu::runtime
