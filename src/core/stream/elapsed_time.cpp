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
using detail::Kept;
using detail::Ownership;
using driver::Api;
using support::text;

namespace {

/// One of the two, as long as its time is asked for.
struct Named {
  Named(const Event& the_event, const char* the_name)
      : event(the_event), name(the_name), kept(Access::try_keep(the_event)) {
    check_known_facts();
  }

  const Event& event;
  const char* name;
  Kept<EventResource> kept;

 private:
  void check_known_facts() const;
};

[[noreturn]] void refuse(const Named& unfit, std::string_view rule, std::string_view reason) {
  throw WrongState(text(rule, ": the ", unfit.name, " event (", unfit.event, ") ", reason));
}

// What can be said without the driver. Of a foreign event nothing is known.
void Named::check_known_facts() const {
  if (!kept) {
    refuse(*this, "Both Events must be open",
           "stands for no CUDA event: it was closed, by close() on it or on a copy, or never assigned");
  }
  if (kept->ownership == Ownership::foreign) return;
  if (!kept->options.timing_enabled) {
    refuse(*this, "Both Events must be created with timing enabled",
           "was made without timing: pass {.timing_enabled = true}");
  }
}

void check_contexts(const Named& start, const Named& end) {
  const EventResource& first = *start.kept;
  const EventResource& last = *end.kept;
  if (first.ownership == Ownership::foreign || last.ownership == Ownership::foreign) return;
  if (&first.context == &last.context) return;
  refuse(end, "Both Events must be of one context",
         text("is of another ", first.context.device == last.context.device ? "context" : "device",
              " than the start event (", start.event, "): record both on streams of one context"));
}

// The driver says only that one of the two is unfit. Asked for the time from an event to itself, it says which.
void find_the_unfit(const Named& named) {
  float milliseconds = 0;
  const CUevent handle = named.kept->handle;
  switch (driver::try_call<&Api::cuEventElapsedTime>(&milliseconds, handle, handle)) {
    case CUDA_ERROR_NOT_READY:
      refuse(named, "One or both events have not completed", "is not done yet: call sync() on it first");
    case CUDA_ERROR_INVALID_HANDLE:
      refuse(named, "Both Events must be recorded",
             named.kept->ownership == Ownership::foreign
                 ? "was never recorded, or made without timing"
                 : "was never recorded: call Stream::record with it first, or launch a graph that records it");
    default: return;
  }
}

}  // namespace

float operator-(const Event& end_event, const Event& start_event) {
  const Named start(start_event, "start");
  const Named end(end_event, "end");
  check_contexts(start, end);
  ContextGuard guard(end.kept->context);
  float milliseconds = 0;
  const CUresult result =
      driver::try_call<&Api::cuEventElapsedTime>(&milliseconds, start.kept->handle, end.kept->handle);
  if (result == CUDA_SUCCESS) return milliseconds;
  if (result == CUDA_ERROR_NOT_READY || result == CUDA_ERROR_INVALID_HANDLE) {
    find_the_unfit(start);
    find_the_unfit(end);
  }
  driver::detail::raise(result, driver::detail::index_of_cuEventElapsedTime,
                        text("measuring the time from ", start_event, " to ", end_event));
}

}  // namespace cuprum::inline CUPRUM_ABI
