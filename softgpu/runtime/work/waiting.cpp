#include "softgpu/runtime/work/waiting.hpp"

#include <utility>

#include "softgpu/exec/pool.hpp"

namespace softgpu::runtime {
namespace {

// Sequentially consistent against the flags: either the waiting thread sees that its flag is set, or the one that
// sets it sees that somebody waits.
std::atomic<int> waiting_threads{0};
std::atomic<exec::Pool*> pool_of_waiting{nullptr};

thread_local bool inside_pool = false;

}  // namespace

void wait_for(exec::Pool& pool, const std::atomic<bool>& flag, const void* queue) {
  if (flag.load()) return;
  pool_of_waiting.store(&pool);
  waiting_threads.fetch_add(1);
  pool.wait_until([&flag] { return flag.load(); }, queue);
  waiting_threads.fetch_sub(1);
}

void wake_waiting_threads() {
  if (!inside_pool && waiting_threads.load() != 0) pool_of_waiting.load()->notify();
}

InsidePool::InsidePool() : before_(std::exchange(inside_pool, true)) {}
InsidePool::~InsidePool() { inside_pool = before_; }

}  // namespace softgpu::runtime
