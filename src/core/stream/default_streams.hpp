// The default streams: names for a queue that depends on the current context, and with one of them on the thread.
#pragma once

#include <memory>

#include "core/stream/resources.hpp"

namespace cuprum::core {

inline bool is_default_stream(CUstream handle) {
  return handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
}

/// The stream that work queued now on `stream` goes to, for later: a default stream in the context that is current
/// now, and every other stream itself. What is to happen in the order of work that was queued already, such as freeing
/// memory, needs this.
std::shared_ptr<detail::StreamResource> settled(const std::shared_ptr<detail::StreamResource>& stream);

/// A stream on which the calling thread can queue work that comes after all work on a settled stream. That is another
/// one only when `stream` is the default stream of another thread, which this thread has no name for: CUDA's legacy
/// default stream, which waits for it.
std::shared_ptr<detail::StreamResource> reachable(const std::shared_ptr<detail::StreamResource>& stream);

}  // namespace cuprum::core
