#include "core/base/deferred.hpp"

#include <atomic>
#include <memory>
#include <utility>

namespace cuprum::core {
namespace {

// A stack, because it takes one word and no lock.
std::atomic<Deferred*> waiting{nullptr};

}  // namespace

void defer(Deferred* item) noexcept {
  item->next_ = waiting.load(std::memory_order_relaxed);
  while (!waiting.compare_exchange_weak(item->next_, item, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

void destroy_deferred() noexcept {
  if (!waiting.load(std::memory_order_relaxed)) return;
  Deferred* item = waiting.exchange(nullptr, std::memory_order_acquire);
  while (item) {
    std::unique_ptr<Deferred> done(std::exchange(item, item->next_));
  }
}

}  // namespace cuprum::core
