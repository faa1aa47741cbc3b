#include <cuprum/device.hpp>
#include <cuprum/event.hpp>
#include <ostream>

#include "core/base/deferred.hpp"
#include "core/base/release_in.hpp"
#include "core/base/same_object.hpp"
#include "core/stream/resources.hpp"
#include "driver/release.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::ContextGuard;
using detail::Access;
using detail::EventResource;
using detail::Kept;
using detail::Ownership;
using driver::Api;
using driver::Doing;
using support::text;

namespace {

CUevent create(const core::ContextRecord& context, const EventOptions& options) {
  unsigned flags = CU_EVENT_DEFAULT;
  if (!options.timing_enabled) flags |= CU_EVENT_DISABLE_TIMING;
  if (options.blocking_sync) flags |= CU_EVENT_BLOCKING_SYNC;
  if (options.ipc_enabled) {
    if (options.timing_enabled) {
      throw InvalidArgument("an event that is shared between processes can't measure time: leave out timing_enabled");
    }
    flags |= CU_EVENT_INTERPROCESS;
  }
  CUevent handle = nullptr;
  driver::call<&Api::cuEventCreate>(Doing{[&] { return text("creating an event on device ", context.device); }},
                                    &handle, flags);
  return handle;
}

}  // namespace

EventResource::EventResource(const core::ContextRecord& the_context, const EventOptions& the_options)
    : context(the_context),
      ownership(Ownership::ours),
      options(the_options),
      handle(create(the_context, the_options)),
      parent_(the_context.owner.lock()) {}

EventResource::EventResource(const core::ContextRecord& the_context, const EventOptions& the_options,
                             CUevent the_handle, Ownership the_ownership)
    : context(the_context),
      ownership(the_ownership),
      options(the_options),
      handle(the_handle),
      parent_(the_context.owner.lock()) {}

EventResource::~EventResource() {
  // Destroying needs no current context: an event knows its own.
  if (ownership == Ownership::ours) core::release_in<&Api::cuEventDestroy>(context, handle);
}

// The driver doesn't tell an event's context or flags, so those of a foreign event are taken as the most general.
Event Event::from_handle(CUevent_st* handle) {
  return Access::make<Event, EventResource>(core::ContextChoice::current().resolve(),
                                            EventOptions{.timing_enabled = true}, handle);
}

void Event::sync() const {
  const Kept<EventResource> event = Access::keep(*this);
  core::DestroyDeferred deferred;
  ContextGuard guard(event->context);
  driver::call<&Api::cuEventSynchronize>(Doing{[&] { return text("waiting for ", *this); }}, event->handle);
}

bool Event::is_done() const {
  const Kept<EventResource> event = Access::keep(*this);
  ContextGuard guard(event->context);
  const CUresult state = driver::try_call<&Api::cuEventQuery>(event->handle);
  if (state == CUDA_SUCCESS) return true;
  if (state == CUDA_ERROR_NOT_READY) return false;
  driver::detail::raise(state, driver::detail::index_of_cuEventQuery, text("asking whether ", *this, " is done"));
}

bool Event::is_timing_enabled() const { return Access::keep(*this)->options.timing_enabled; }

bool Event::is_blocking_sync() const { return Access::keep(*this)->options.blocking_sync; }

bool Event::is_ipc_enabled() const { return Access::keep(*this)->options.ipc_enabled; }

Device Event::device() const { return Access::device(Access::keep(*this)->context.device); }

Context Event::context() const { return core::context_handle(Access::keep(*this)->context); }

CUevent_st* Event::handle() const noexcept {
  return reinterpret_cast<CUevent>(static_cast<std::uintptr_t>(Access::number(*this)));
}

void Event::close() { Access::close(*this); }

std::uint64_t Event::identity() const noexcept { return core::lasting_number(shared_.get()); }

bool operator==(const Event& a, const Event& b) noexcept { return core::are_same(a.shared_.get(), b.shared_.get()); }

std::ostream& operator<<(std::ostream& out, const Event& event) {
  const Kept<EventResource> resource = Access::try_keep(event);
  if (!resource) return out << Access::state_in_words(event);
  return out << "event " << static_cast<const void*>(resource->handle) << " on device " << resource->context.device;
}

}  // namespace cuprum::inline CUPRUM_ABI
