// Calls that queue work on a stream.
#pragma once

#include "core/context.hpp"
#include "core/default_streams.hpp"
#include "core/resources.hpp"

namespace cuprum::core {

/// Makes `call()`, which queues something on the stream, where the stream's context is current, and returns its result.
///
/// A stream other than a default one says itself where its work goes, so the driver is not asked first which context is
/// current: if it wants another it refuses the call, and then that is entered and the call made again.
template <typename Call>
CUresult queue_call(const detail::StreamResource& stream, Call&& call) {
  if (!stream.context().is_fixed() || is_default_stream(stream.handle)) [[unlikely]] {
    ContextGuard guard(stream.context());
    return call();
  }
  const CUresult result = call();
  if (result == CUDA_SUCCESS) [[likely]]
    return result;
  ContextGuard guard(stream.context());
  return guard.changed_context() ? call() : result;
}

}  // namespace cuprum::core
