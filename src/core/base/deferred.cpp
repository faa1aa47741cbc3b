#include "core/base/deferred.hpp"

#include <atomic>
#include <memory>
#include <utility>

namespace cuprum::core {
namespace {

// A stack, because it takes one word and no lock.
std::atomic<Deferred*> waiting{nullptr};

// Every release looks at it, so it has its place in the thread's own block.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool is_inside = false;

}  // namespace

InsideHostFunction::InsideHostFunction() noexcept : before_(std::exchange(is_inside, true)) {}
InsideHostFunction::~InsideHostFunction() { is_inside = before_; }

bool is_inside_host_function() noexcept { return is_inside; }

void defer(Deferred* item) noexcept {
  item->next_ = waiting.load(std::memory_order_relaxed);
  while (!waiting.compare_exchange_weak(item->next_, item, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

void destroy_deferred() noexcept {
  if (!waiting.load(std::memory_order_relaxed) || is_inside) return;
  Deferred* item = waiting.exchange(nullptr, std::memory_order_acquire);
  while (item) {
    std::unique_ptr<Deferred> done(std::exchange(item, item->next_));
  }
}

}  // namespace cuprum::core
