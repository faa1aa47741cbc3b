// Events.
#include "softgpu/runtime/work/event.hpp"

#include "softgpu/api/work/streams.hpp"
#include "softgpu/runtime/graphs/capture.hpp"
#include "softgpu/runtime/memory/memory_pool.hpp"
#include "softgpu/runtime/work/interprocess_event.hpp"

namespace softgpu::api {
namespace {

using runtime::Event;

std::shared_ptr<Event> find_event(CUevent handle) {
  auto event = find(Driver::get().work().events, handle, "not an event, or one that was destroyed");
  require_healthy(event->context());
  return event;
}

void record(CUevent handle, CUstream stream_handle, NullStream null, unsigned flags) {
  require((flags & ~static_cast<unsigned>(CU_EVENT_RECORD_EXTERNAL)) == 0, CUDA_ERROR_INVALID_VALUE, "unknown flags");
  const auto event = find_event(handle);
  const auto stream = find_stream(stream_handle, null);
  require(&event->context() == &stream->context(), CUDA_ERROR_INVALID_HANDLE,
          "the event and the stream are of different contexts");
  if (stream->is_captured() && flags == CU_EVENT_RECORD_EXTERNAL)
    runtime::capture_work(*stream, runtime::RecordWork{event, handle});
  else
    event->record(*stream);
}

CUresult elapsed_time(const char* name, float* milliseconds, CUevent start, CUevent end) {
  return call(name, [&] {
    require_pointer(milliseconds);
    *milliseconds = Event::milliseconds(*find_event(start), *find_event(end));
  });
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return call_in_context(__func__, [&](Context& context) {
    require_pointer(event);
    constexpr unsigned kKnown = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    require((flags & ~kKnown) == 0, CUDA_ERROR_INVALID_VALUE, "unknown flags for an event");
    const bool shared = (flags & CU_EVENT_INTERPROCESS) != 0;
    require(!shared || (flags & CU_EVENT_DISABLE_TIMING) != 0, CUDA_ERROR_INVALID_VALUE,
            "an event between processes has no timing");
    *event = Driver::get().work().events.add(
        std::make_shared<Event>(context.shared_from_this(), flags,
                                shared ? runtime::InterprocessEvent::create(Driver::get().memory().space) : nullptr));
  });
}

CUresult cuEventDestroy_v2(CUevent event) {
  return call(__func__, [&] {
    const auto removed = Driver::get().work().events.remove(event);
    require_handle(removed != nullptr, CUDA_ERROR_INVALID_HANDLE, "not an event, or one that was destroyed");
    require_healthy(removed->context());
  });
}
CUresult cuEventDestroy(CUevent event) { return cuEventDestroy_v2(event); }

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuEventRecord, _ptsz, (CUevent event, CUstream stream),
                              [&] { record(event, stream, null_stream, 0); })

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuEventRecordWithFlags, _ptsz, (CUevent event, CUstream stream, unsigned flags),
                              [&] { record(event, stream, null_stream, flags); })

CUresult cuEventQuery(CUevent event) {
  return call(__func__, [&] {
    const auto found = find_event(event);
    found->require_uncaptured();
    runtime::require_unsafe_calls_allowed();
    if (!found->reached()) return CUDA_ERROR_NOT_READY;
    require_healthy(found->context());
    return CUDA_SUCCESS;
  });
}

CUresult cuEventSynchronize(CUevent event) {
  return call(__func__, [&] {
    const auto found = find_event(event);
    found->require_uncaptured();
    runtime::require_unsafe_calls_allowed();
    found->wait();
    runtime::trim_pools(Driver::get().memory());
    require_healthy(found->context());
    return CUDA_SUCCESS;
  });
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return elapsed_time(__func__, milliseconds, start, end);
}
CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return elapsed_time(__func__, milliseconds, start, end);
}

}  // extern "C"
