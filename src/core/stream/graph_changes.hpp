// Who may touch a graph that is being captured into.
//
// Several threads may queue work that becomes part of one graph, which drivers see to. They need not for calls that
// take the graph by its handle, and that is how what can't be captured is added to it: NVIDIA's crashes when one thread
// does that while another one allocates memory on a captured stream. So these calls come one at a time, and not while
// something is queued on a captured stream.
#pragma once

#include <mutex>
#include <new>
#include <shared_mutex>

#include "core/stream/captures.hpp"

namespace cuprum::core {

/// Around a call that changes a graph by its handle, and nothing else. Costs a load when nothing is captured.
class GraphChange {
 public:
  GraphChange() noexcept;

 private:
  std::unique_lock<std::shared_mutex> alone_;
};

/// Around a call that queues something on a stream. Costs a load when nothing is captured. What other streams do may
/// take long, and is nobody's business here.
class QueuingWork {
 public:
  explicit QueuingWork(const Queue& stream) {
    if (is_something_captured() && captured_graph(stream)) [[unlikely]]
      enter();
  }
  /// For what gives something back, which is done also when the driver does not tell: does not throw.
  QueuingWork(const Queue& stream, std::nothrow_t) noexcept {
    if (is_something_captured() && takes_part_in_capture(stream)) [[unlikely]]
      enter();
  }

 private:
  void enter() noexcept;

  std::shared_lock<std::shared_mutex> with_others_;
};

}  // namespace cuprum::core
