// The default streams: names for a queue that depends on the current context, and with one of them on the thread.
#pragma once

#include <cuprum/stream.hpp>
#include <memory>

#include "core/stream/resources.hpp"

namespace cuprum::core {

inline bool is_default_stream(CUstream handle) {
  return handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
}

/// A handle of the default stream of this name in whichever context is current, or in that of a device. All handles of
/// one share a record that is never destroyed, so making and copying them allocates and counts nothing.
Stream default_stream(CUstream name);
Stream default_stream(CUstream name, int device);

/// Which of the two is meant when nobody says: see cuprum::default_stream().
CUstream usual_default_stream();

/// What a handle of one of these has after it was closed.
detail::SharedState& closed_stream(CUstream name);

/// The stream that work queued now on `stream` goes to, for later: a default stream in the context that is current
/// now, and every other stream itself. What is to happen in the order of work that was queued already, such as freeing
/// memory, needs this.
detail::Kept<detail::StreamResource> settled(detail::Kept<detail::StreamResource> stream);

/// A stream on which the calling thread can queue work that comes after all work on a settled stream. That is another
/// one only when `stream` is the default stream of another thread, which this thread has no name for: CUDA's legacy
/// default stream, which waits for it.
detail::Kept<detail::StreamResource> reachable(const detail::Kept<detail::StreamResource>& stream);

/// A handle of a stream that is kept, for code that takes one. It is open, whether or not the user's was closed.
Stream handle_of(const detail::Kept<detail::StreamResource>& stream);

}  // namespace cuprum::core
