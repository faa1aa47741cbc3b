#include "core/base/deferred.hpp"

#include <atomic>
#include <cuprum/detail/deferred.hpp>
#include <memory>
#include <utility>

namespace cuprum::core {
namespace {

// A stack, because it takes one word and no lock.
std::atomic<Deferred*> waiting{nullptr};

// Who is told that something waits now.
std::atomic<void (*)()> notice{nullptr};

// Every release looks at it, so it has its place in the thread's own block.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool is_inside = false;

}  // namespace

InsideHostFunction::InsideHostFunction() noexcept : before_(std::exchange(is_inside, true)) {}
InsideHostFunction::~InsideHostFunction() { is_inside = before_; }

bool is_inside_host_function() noexcept { return is_inside; }

void defer(Deferred* item) noexcept {
  // Once it is on the stack, another thread may destroy it.
  Deferred* before = waiting.load(std::memory_order_relaxed);
  do {
    item->next_ = before;
  } while (!waiting.compare_exchange_weak(before, item, std::memory_order_release, std::memory_order_relaxed));
  void (*const tell)() = before ? nullptr : notice.load(std::memory_order_acquire);
  if (tell) tell();
}

void destroy_deferred() noexcept {
  if (!waiting.load(std::memory_order_relaxed) || is_inside) return;
  Deferred* item = waiting.exchange(nullptr, std::memory_order_acquire);
  while (item) {
    std::unique_ptr<Deferred> done(std::exchange(item, item->next_));
  }
}

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI::detail {

void release_deferred() noexcept { core::destroy_deferred(); }
void set_deferred_notice(void (*notice)()) noexcept { core::notice.store(notice, std::memory_order_release); }

}  // namespace cuprum::inline CUPRUM_ABI::detail
