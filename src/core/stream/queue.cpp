#include "core/stream/queue.hpp"

#include "core/stream/default_streams.hpp"
#include "support/text.hpp"

namespace cuprum::core {

using driver::Api;
using driver::Doing;
using support::text;

Queue foreign_queue(CUstream handle) {
  // 0 is the same as 1 to the entry points that we use.
  if (is_default_stream(handle)) return {handle ? handle : CU_STREAM_LEGACY, ContextChoice::current()};
  CUcontext context = nullptr;
  driver::call<&Api::cuStreamGetCtx>(Doing{[&] { return text("wrapping stream ", handle); }}, handle, &context);
  return {handle, context_of(context)};
}

}  // namespace cuprum::core
