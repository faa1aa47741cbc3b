#include "softgpu/runtime/work/api_gate.hpp"

#include <algorithm>
#include <climits>

#include "softgpu/exec/futex.hpp"

namespace softgpu::runtime {
namespace {

struct OwnPlace {
  unsigned depth = 0;    // of calls within calls
  unsigned counter = 0;  // plus one; 0: none yet
};
constinit thread_local OwnPlace own_place;

std::atomic<unsigned> next_counter{0};

}  // namespace

ApiGate& ApiGate::get() {
  static constinit ApiGate gate;
  return gate;
}

void ApiGate::close() { move_to(kClosed); }
void ApiGate::open() { move_to(kOpen); }

void ApiGate::refuse(CUresult code) {
  refusal_.store(code);
  move_to(kRefused);
}

void ApiGate::move_to(Position position) {
  std::uint32_t before = position_.load();
  while (before != kRefused && !position_.compare_exchange_weak(before, position)) {
  }
  exec::futex_wake(position_, INT_MAX);
}

// Sequentially consistent against close(): a call counts itself before it looks at the gate, so either it sees that the
// gate is closed, or it is seen here.
bool ApiGate::is_empty() const {
  return std::all_of(counters_.begin(), counters_.end(),
                     [](const Counter& counter) { return counter.inside.load() == 0; });
}

void ApiGate::enter_slowly(unsigned counter) {
  waiting_.fetch_add(1);
  while (position_.load() == kClosed) {
    leave(counter);
    while (position_.load() == kClosed) exec::futex_wait(position_, kClosed);
    counters_[counter].inside.fetch_add(1);
  }
  waiting_.fetch_sub(1);
}

CallPass::CallPass() {
  OwnPlace& place = own_place;
  if (place.depth++ != 0) return;
  if (place.counter == 0) place.counter = 1 + next_counter.fetch_add(1, std::memory_order_relaxed) % ApiGate::kCounters;
  ApiGate::get().enter(place.counter - 1);
}

CallPass::~CallPass() {
  OwnPlace& place = own_place;
  if (--place.depth == 0) ApiGate::get().leave(place.counter - 1);
}

}  // namespace softgpu::runtime
