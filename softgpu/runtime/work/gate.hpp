// What all later work of a context waits for, in whichever of its streams it is: cuCtxWaitEvent and
// cuGreenCtxWaitEvent.
#pragma once

#include <atomic>
#include <mutex>
#include <utility>

#include "softgpu/runtime/work/op.hpp"

namespace softgpu::runtime {

// Thread-safe.
class Gate {
 public:
  // From here on also for `op`, which is not submitted yet.
  void add(const OpRef& op) {
    {
      const std::scoped_lock lock(lock_);
      if (last_) op->put_after(*last_);
      last_ = op;
      closed_.store(true, std::memory_order_release);
    }
    op->submit();
  }

  // Puts an Op that is not submitted yet behind it. Costs next to nothing when there is nothing to wait for.
  void put_behind(Op& op) {
    if (!closed_.load(std::memory_order_acquire)) return;
    const std::scoped_lock lock(lock_);
    if (last_ && !last_->done()) {
      op.put_after(*last_);
      return;
    }
    last_ = OpRef();
    closed_.store(false, std::memory_order_relaxed);
  }

 private:
  SpinLock lock_;
  OpRef last_;
  std::atomic<bool> closed_{false};
};

}  // namespace softgpu::runtime
