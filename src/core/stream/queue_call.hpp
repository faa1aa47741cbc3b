// Calls that queue work on a stream.
#pragma once

#include "core/base/context.hpp"
#include "core/stream/default_streams.hpp"
#include "core/stream/graph_changes.hpp"
#include "core/stream/queue.hpp"
#include "core/stream/resources.hpp"
#include "driver/release.hpp"

namespace cuprum::core {

/// Makes `call(context)`, which queues something on the stream, where the stream's context is current, and returns its
/// result.
///
/// A stream other than a default one says itself where its work goes, so the driver is not asked first which context is
/// current: if it wants another it refuses the call, and then that is entered and the call made again.
template <typename Call>
CUresult queue_call(const Queue& stream, Call&& call) {
  const QueuingWork queuing(stream);
  if (!stream.context.is_fixed() || is_default_stream(stream.handle)) [[unlikely]] {
    ContextGuard guard(stream.context);
    return call(guard.context());
  }
  const ContextRecord& context = stream.context.resolve();
  const CUresult result = call(context);
  if (result == CUDA_SUCCESS) [[likely]]
    return result;
  ContextGuard guard(context);
  return guard.changed_context() ? call(context) : result;
}

/// Calls an entry point that queues something on the stream; throws as driver::call does.
template <auto Entry, typename Describe, typename... Arguments>
void queue_work(const detail::StreamResource& stream, driver::Doing<Describe> doing, Arguments... arguments) {
  const CUresult result =
      queue_call(stream, [&](const ContextRecord&) { return driver::try_call<Entry>(arguments...); });
  if (result != CUDA_SUCCESS) [[unlikely]]
    driver::detail::raise(result, (driver::api().*Entry).index, doing.describe());
}

/// The same for destructors, which give something back in the order of the stream: fails without a word when the
/// stream's context is gone, and with it everything that was to be released, else through the log. In a context that is
/// not known to be there the driver would follow the stream's handle to nowhere.
template <auto Entry, typename... Arguments>
void queue_release(const detail::StreamResource& stream, Arguments... arguments) noexcept {
  const QueuingWork queuing(stream, std::nothrow);
  if (stream.context().is_held() && !is_default_stream(stream.handle)) [[likely]] {
    const driver::Released first = driver::try_release<Entry>(arguments...);
    if (first) [[likely]]
      return;
    ContextGuard guard(stream.context(), std::nothrow);
    if (!guard.entered()) return;
    if (!guard.changed_context()) return first.log();
    driver::release<Entry>(arguments...);
  } else if (ContextGuard guard(stream.context(), std::nothrow); guard.entered()) {
    driver::release<Entry>(arguments...);
  }
}

}  // namespace cuprum::core
