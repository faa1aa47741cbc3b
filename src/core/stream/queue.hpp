#pragma once

#include <cuprum/driver.hpp>

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

}  // namespace cuprum::core
