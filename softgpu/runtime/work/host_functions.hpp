// The thread that runs host functions (cuLaunchHostFunc, cuStreamAddCallback). They may block, so the pool's threads
// can't; they may not call the driver.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace softgpu::runtime {

// Thread-safe.
class HostFunctions {
 public:
  // Runs it, in order, on the thread. The thread is started with the first one and never joined.
  void post(std::function<void()> function);
  // Whether the caller is such a function.
  static bool on_thread();

 private:
  void loop();

  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> queue_;
  bool started_ = false;
};

}  // namespace softgpu::runtime
