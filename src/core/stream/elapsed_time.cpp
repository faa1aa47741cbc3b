// The time between two events.
#include <cuprum/context.hpp>
#include <cuprum/event.hpp>
#include <ostream>

#include "core/stream/resources.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::ContextGuard;
using detail::Access;
using detail::EventResource;
using detail::Ownership;
using driver::Api;
using support::text;

namespace {

struct Named {
  const Event& event;
  const char* name;
};

[[noreturn]] void refuse(const Named& unfit, std::string_view reason) {
  throw InvalidArgument(text("time between events: the ", unfit.name, " event (", unfit.event, ") ", reason));
}

// What can be said without the driver. Of a foreign event nothing is known.
void check_known_facts(const Named& named) {
  if (!Access::is_open(named.event)) refuse(named, "was closed, by close() on it or on a copy");
  const EventResource& event = *Access::resource(named.event);
  if (event.ownership == Ownership::foreign) return;
  if (!event.options.timing_enabled) refuse(named, "was made without timing: pass {.timing_enabled = true}");
  if (!event.recorded) refuse(named, "was never recorded: call Stream::record with it first");
}

void check_contexts(const Named& start, const Named& end) {
  const EventResource& first = *Access::resource(start.event);
  const EventResource& last = *Access::resource(end.event);
  if (first.ownership == Ownership::foreign || last.ownership == Ownership::foreign) return;
  if (&first.context == &last.context) return;
  refuse(end, text("is of another ", first.context.device == last.context.device ? "context" : "device",
                   " than the start event (", start.event, "): record both on streams of one context"));
}

// The driver says only that one of the two is unfit. Asked for the time from an event to itself, it says which.
void find_the_unfit(const Named& named) {
  float milliseconds = 0;
  const CUevent handle = Access::resource(named.event)->handle;
  switch (driver::try_call<&Api::cuEventElapsedTime>(&milliseconds, handle, handle)) {
    case CUDA_ERROR_NOT_READY: refuse(named, "is not done yet: call sync() on it first");
    case CUDA_ERROR_INVALID_HANDLE: refuse(named, "was never recorded, or made without timing");
    default: return;
  }
}

}  // namespace

float operator-(const Event& end_event, const Event& start_event) {
  const Named start = {start_event, "start"};
  const Named end = {end_event, "end"};
  check_known_facts(start);
  check_known_facts(end);
  check_contexts(start, end);
  const EventResource& last = *Access::resource(end_event);
  ContextGuard guard(last.context);
  float milliseconds = 0;
  const CUresult result =
      driver::try_call<&Api::cuEventElapsedTime>(&milliseconds, Access::resource(start_event)->handle, last.handle);
  if (result == CUDA_SUCCESS) return milliseconds;
  if (result == CUDA_ERROR_NOT_READY || result == CUDA_ERROR_INVALID_HANDLE) {
    find_the_unfit(start);
    find_the_unfit(end);
  }
  driver::detail::raise(result, driver::detail::index_of_cuEventElapsedTime,
                        text("measuring the time from ", start_event, " to ", end_event));
}

}  // namespace cuprum::inline CUPRUM_ABI
