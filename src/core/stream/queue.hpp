#pragma once

#include <cuprum/driver.hpp>
#include <cuprum/error.hpp>

#include "core/base/context.hpp"
#include "core/stream/resources.hpp"

namespace cuprum::core {

/// What a call that queues work needs to know of a stream: enough for one that is somebody else's, too. Keeps nothing
/// alive.
struct Queue {
  Queue(CUstream the_handle, const ContextChoice& the_context) noexcept : handle(the_handle), context(the_context) {}
  Queue(const detail::StreamResource& stream) noexcept : Queue(stream.handle, stream.context()) {}

  CUstream handle;
  ContextChoice context;
};

/// Somebody else's stream; 0 and 1 are the legacy default stream, 2 is that of the thread. Asks the driver which
/// context it is in, and otherwise takes no lock and allocates nothing while a thread stays with one context. Throws
/// DriverError for what is no stream.
Queue foreign_queue(CUstream handle);

/// The context that foreign_queue() last found for a stream on this thread, if that is a context that we hold; else
/// null. The stream may be gone, and another in another context have its handle.
const ContextRecord* remembered_context(CUstream handle) noexcept;

/// Whether the driver says now that the stream is in another context.
bool has_moved(CUstream handle, const ContextRecord& context);

/// Calls `launch(queue)` for somebody else's stream, with the context that is remembered of it. Where that is wrong the
/// driver refuses the launch, whose kernel is one of that context; then the launch is made anew with the right one.
template <typename Launch>
void launch_on_foreign(CUstream handle, Launch&& launch) {
  const ContextRecord* const remembered = remembered_context(handle);
  if (!remembered) return launch(foreign_queue(handle));
  try {
    return launch(Queue(handle, *remembered));
  } catch (const Error&) {
    if (!has_moved(handle, *remembered)) throw;
  }
  launch(foreign_queue(handle));
}

}  // namespace cuprum::core
