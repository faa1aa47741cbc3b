// Captures that builders of the library are making. Work that is queued on a stream then becomes part of a graph, which
// has to keep what it uses.
#pragma once

#include <cuprum/driver.hpp>
#include <functional>

#include "core/stream/attachment.hpp"
#include "core/stream/queue.hpp"
#include "core/stream/resources.hpp"
#include "driver/releasing.hpp"

namespace cuprum::core {

/// While there are none, which is nearly always, the driver is not asked whether a stream is being captured.
inline bool is_something_captured() { return driver::captures_under_way.load(std::memory_order_relaxed) != 0; }

/// The graph that the stream's work becomes part of; null when it runs.
CUgraph captured_graph(const Queue& stream);
/// Whether work on the stream would not run now. Broken captures count, too, and those of others that the legacy stream
/// would wait for: work is refused as well.
bool takes_part_in_capture(const Queue& stream) noexcept;

/// Notes that a stream is still captured and that nobody can end that. It is not destroyed then: drivers need not
/// survive it.
void leave_to_driver(CUstream stream) noexcept;
/// Whether that was noted, for whoever is about to destroy the stream. Forgets it.
bool is_left_to_driver(CUstream stream) noexcept;

/// Calls `release`, which may not throw, when the stream is not being captured: at once, or where the capture ends.
void after_capture(const detail::Kept<detail::StreamResource>& stream, std::function<void()> release);
/// Calls what waited for captures that have ended.
void release_after_captures() noexcept;

/// Makes the graph that a stream is captured into keep what `owners()` returns. Comes before the work is queued.
template <typename OwnersOf>
void keep_if_captured(const Queue& stream, OwnersOf&& owners) {
  if (!is_something_captured()) [[likely]]
    return;
  const CUgraph graph = captured_graph(stream);
  if (!graph) return;
  PendingAttachment attachment(graph, owners());
  attachment.commit();
}

}  // namespace cuprum::core
