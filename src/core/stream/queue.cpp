#include "core/stream/queue.hpp"

#include <array>

#include "core/stream/captures.hpp"
#include "core/stream/default_streams.hpp"
#include "support/text.hpp"

namespace cuprum::core {

using driver::Api;
using driver::Doing;
using support::text;

namespace {

struct SeenStream {
  CUstream handle = nullptr;
  const ContextRecord* context = nullptr;
};

// A thread launches on few streams; where two share a place, the driver is asked each time.
constinit thread_local std::array<SeenStream, 8> seen_streams{};

SeenStream& seen_place(CUstream handle) noexcept {
  const std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(handle) * 0x9e3779b97f4a7c15u;  // handles lie aligned
  return seen_streams[mixed >> 61];
}

}  // namespace

Queue foreign_queue(CUstream handle) {
  // 0 is the same as 1 to the entry points that we use.
  if (is_default_stream(handle)) return {handle ? handle : CU_STREAM_LEGACY, ContextChoice::current()};
  CUcontext context = nullptr;
  driver::call<&Api::cuStreamGetCtx>(Doing{[&] { return text("wrapping stream ", handle); }}, handle, &context);
  const ContextRecord& record = context_of(context);
  seen_place(handle) = {handle, &record};
  return {handle, record};
}

// What is captured is asked for: a launch that the driver refuses would be the end of the capture.
const ContextRecord* remembered_context(CUstream handle) noexcept {
  const SeenStream& last = seen_place(handle);
  if (last.handle != handle || !last.context || is_something_captured()) return nullptr;
  return last.context->held.load(std::memory_order_acquire) ? last.context : nullptr;
}

bool has_moved(CUstream handle, const ContextRecord& context) {
  CUcontext now = nullptr;
  return driver::try_call<&Api::cuStreamGetCtx>(handle, &now) == CUDA_SUCCESS && now != context.handle;
}

}  // namespace cuprum::core
