#include "softgpu/runtime/work/waiting.hpp"

#include <utility>

#include "softgpu/runtime/driver.hpp"

namespace softgpu::runtime {
namespace {

// Sequentially consistent against the flags: either the waiting thread sees that its flag is set, or the one that
// sets it sees that somebody waits.
std::atomic<int> waiting_threads{0};

thread_local bool inside_pool = false;

}  // namespace

void wait_for(const std::atomic<bool>& flag, const void* queue) {
  if (flag.load()) return;
  waiting_threads.fetch_add(1);
  Driver::get().pool().wait_until([&flag] { return flag.load(); }, queue);
  waiting_threads.fetch_sub(1);
}

void wake_waiting_threads() {
  if (!inside_pool && waiting_threads.load() != 0) Driver::get().pool().notify();
}

InsidePool::InsidePool() : before_(std::exchange(inside_pool, true)) {}
InsidePool::~InsidePool() { inside_pool = before_; }

}  // namespace softgpu::runtime
