// Host threads that wait for Ops. They help to run what they wait for: see exec::Pool::wait_until.
#pragma once

#include <atomic>

namespace softgpu::exec {
class Pool;
}

namespace softgpu::runtime {

// Returns when the flag is set. There is one pool in a process. `queue` is the stream whose work this thread may run
// meanwhile; null: any stream's.
void wait_for(exec::Pool& pool, const std::atomic<bool>& flag, const void* queue);

// To be called after setting such a flag. Costs next to nothing when nobody waits.
void wake_waiting_threads();

// Marks the calling thread as one of the pool's while it ends a piece of the pool's work: the pool itself then
// lets waiting threads look again.
class InsidePool {
 public:
  InsidePool();
  ~InsidePool();
  InsidePool(const InsidePool&) = delete;
  InsidePool& operator=(const InsidePool&) = delete;

 private:
  bool before_;
};

}  // namespace softgpu::runtime
