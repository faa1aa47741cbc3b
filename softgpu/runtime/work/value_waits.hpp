// The thread that looks at memory which streams wait for (cuStreamWaitValue32). The program and its kernels write it
// without telling anybody, so that looking again and again is all that can be done; the pool's threads can't.
#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>

namespace softgpu::runtime {

// Thread-safe.
class ValueWaits {
 public:
  // Calls `done` on the thread once `holds` returns true. The thread is started with the first one and never joined.
  void add(std::function<bool()> holds, std::function<void()> done);
  // Something that is waited for may have been written: look now.
  void look();

 private:
  struct Wait {
    std::function<bool()> holds;
    std::function<void()> done;
  };
  void loop();
  std::list<Wait> take_satisfied();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Wait> waits_;
  bool started_ = false;
  bool look_now_ = false;
};

}  // namespace softgpu::runtime
