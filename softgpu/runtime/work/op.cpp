#include "softgpu/runtime/work/op.hpp"

#include <chrono>
#include <exception>
#include <mutex>

#include "softgpu/runtime/work/waiting.hpp"

namespace softgpu::runtime {
namespace {

// Ops that became ready while another one runs on this thread wait here, so that a long chain of short ones is
// a loop and not a recursion.
thread_local std::vector<OpRef>* ready_list = nullptr;

}  // namespace

std::int64_t nanoseconds_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Op::put_after(Op& other) {
  const std::scoped_lock lock(other.lock_);
  if (other.done_.load(std::memory_order_acquire)) return;
  waiting_for_.fetch_add(1, std::memory_order_relaxed);
  other.successors_.emplace_back(this);
}

void Op::submit() { predecessor_done(); }

void Op::predecessor_done() {
  if (waiting_for_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (ready_list != nullptr) {
    ready_list->emplace_back(this);
    return;
  }
  std::vector<OpRef> ready;
  ready.emplace_back(this);
  ready_list = &ready;
  while (!ready.empty()) {
    const OpRef next = std::move(ready.back());
    ready.pop_back();
    next->start();
  }
  ready_list = nullptr;
}

// An Op that could not be started must not hold up those behind it, nor take the thread with it that happened to come
// to it.
void Op::start() noexcept {
  try {
    run();
  } catch (const std::exception& error) {
    give_up(error.what());
  } catch (...) {
    give_up("unknown exception");
  }
}

void Op::finish() {
  const OpRef keep(this);
  completed_at_ = nanoseconds_now();
  std::vector<OpRef> successors;
  {
    const std::scoped_lock lock(lock_);
    done_.store(true, std::memory_order_seq_cst);
    successors.swap(successors_);
  }
  for (const OpRef& successor : successors) successor->predecessor_done();
  wake_waiting_threads();
}

}  // namespace softgpu::runtime
