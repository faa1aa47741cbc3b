// Who may touch a graph that is being captured into: one thread at a time.
//
// Several threads may queue work that becomes part of one graph. Drivers see to that as long as all of it is queued on
// streams; but what can't be captured is added to the graph by its handle, which they leave to the program, and
// NVIDIA's crashes when that and the capture of memory that is allocated meet. So all these calls take turns.
#pragma once

#include <mutex>
#include <new>

#include "core/stream/captures.hpp"

namespace cuprum::core {

/// Around a call that changes a graph by its handle, or that begins or ends a capture, and nothing else. Costs a load
/// when nothing is captured.
class GraphChange {
 public:
  GraphChange() noexcept;

 private:
  std::unique_lock<std::mutex> turn_;
};

/// Around a call that queues something on a stream. Costs a load when nothing is captured. What is queued on streams
/// that are not captured may take long, and is nobody's business here.
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

  std::unique_lock<std::mutex> turn_;
};

}  // namespace cuprum::core
