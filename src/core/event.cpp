#include <cuprum/device.hpp>
#include <cuprum/event.hpp>
#include <ostream>

#include "core/resources.hpp"
#include "driver/release.hpp"
#include "support/text.hpp"

namespace cuprum {

using core::ContextGuard;
using detail::Access;
using detail::EventResource;
using detail::Ownership;
using driver::Api;
using driver::Doing;
using support::text;

namespace {

// Why time can't be measured with an event; empty when nothing speaks against it.
std::string unfitness(const Event& event) {
  const EventResource& resource = *Access::resource(event);
  if (resource.ownership == Ownership::ours) {
    if (!resource.options.timing_enabled) return "was made without timing: pass {.timing_enabled = true}";
    if (!resource.recorded) return "was never recorded: call Stream::record with it first";
  }
  if (!event.is_done()) return "is not done yet: call sync() on it first";
  return {};
}

void check_fitness(const Event& event, const char* which) {
  if (std::string reason = unfitness(event); !reason.empty()) {
    throw InvalidArgument(text("time between events: the ", which, " event (", event, ") ", reason));
  }
}

CUevent create(const core::Context& context, const EventOptions& options) {
  ContextGuard guard(context);
  unsigned flags = CU_EVENT_DEFAULT;
  if (!options.timing_enabled) flags |= CU_EVENT_DISABLE_TIMING;
  if (options.blocking_sync) flags |= CU_EVENT_BLOCKING_SYNC;
  CUevent handle = nullptr;
  driver::call<&Api::cuEventCreate>(Doing{[&] { return text("creating an event on device ", context.device); }},
                                    &handle, flags);
  return handle;
}

}  // namespace

EventResource::EventResource(const core::Context& the_context, const EventOptions& the_options)
    : context(the_context),
      ownership(Ownership::ours),
      options(the_options),
      handle(create(the_context, the_options)) {}

EventResource::~EventResource() {
  if (ownership == Ownership::foreign) return;
  if (ContextGuard guard(context, std::nothrow); guard.entered()) driver::release<&Api::cuEventDestroy>(handle);
}

// The driver doesn't tell an event's context or flags, so those of a foreign event are taken as the most general.
Event Event::from_handle(CUevent_st* handle) {
  const core::Context* current = core::current_context();
  return Access::make<Event>(std::make_shared<EventResource>(current ? *current : core::primary_context(0),
                                                             EventOptions{.timing_enabled = true}, handle));
}

void Event::sync() const {
  const EventResource& event = *Access::resource(*this);
  ContextGuard guard(event.context);
  driver::call<&Api::cuEventSynchronize>(Doing{[&] { return text("waiting for ", *this); }}, event.handle);
}

bool Event::is_done() const {
  const EventResource& event = *Access::resource(*this);
  ContextGuard guard(event.context);
  const CUresult state = driver::try_call<&Api::cuEventQuery>(event.handle);
  if (state == CUDA_SUCCESS) return true;
  if (state == CUDA_ERROR_NOT_READY) return false;
  driver::detail::raise(state, driver::detail::index_of_cuEventQuery, text("asking whether ", *this, " is done"));
}

bool Event::is_timing_enabled() const { return Access::resource(*this)->options.timing_enabled; }

bool Event::is_blocking_sync() const { return Access::resource(*this)->options.blocking_sync; }

Device Event::device() const { return Access::device(Access::resource(*this)->context.device); }

CUevent_st* Event::handle() const { return Access::resource(*this)->handle; }

void Event::close() { Access::close(*this); }

float operator-(const Event& end, const Event& start) {
  check_fitness(start, "start");
  check_fitness(end, "end");
  const EventResource& last = *Access::resource(end);
  ContextGuard guard(last.context);
  float milliseconds = 0;
  driver::call<&Api::cuEventElapsedTime>(Doing{[&] { return text("measuring the time from ", start, " to ", end); }},
                                         &milliseconds, Access::resource(start)->handle, last.handle);
  return milliseconds;
}

std::ostream& operator<<(std::ostream& out, const Event& event) {
  if (!Access::is_open(event)) return out << "a closed event";
  const EventResource& resource = *Access::resource(event);
  return out << "event " << static_cast<const void*>(resource.handle) << " on device " << resource.context.device;
}

}  // namespace cuprum
