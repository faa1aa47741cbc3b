// Events between processes.
#include <cstring>
#include <cuprum/device.hpp>
#include <cuprum/event.hpp>

#include "core/base/device_uuid.hpp"
#include "core/ipc/resources.hpp"
#include "core/stream/resources.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::ContextGuard;
using detail::Access;
using detail::EventResource;
using detail::IpcAccess;
using detail::IpcPayload;
using detail::Kept;
using driver::Api;
using driver::Doing;
using support::text;

namespace {

static_assert(sizeof(CUipcEventHandle) == sizeof(IpcPayload));

CUevent open_event(const IPCEventDescriptor& descriptor) {
  CUipcEventHandle handle;
  std::memcpy(&handle, IpcAccess::payload(descriptor).data(), sizeof(handle));
  CUevent event = nullptr;
  driver::call<&Api::cuIpcOpenEventHandle>(Doing{[&] { return text("importing ", descriptor); }}, &event, handle);
  return event;
}

}  // namespace

EventResource::EventResource(const core::ContextRecord& the_context, const IPCEventDescriptor& descriptor)
    : context(the_context),
      ownership(detail::Ownership::ours),
      options{.blocking_sync = descriptor.is_blocking_sync(), .ipc_enabled = true},
      handle(open_event(descriptor)),
      recorded(true),
      imported_by(descriptor),
      parent_(the_context.owner.lock()) {}

IPCEventDescriptor Event::ipc_descriptor() const {
  const Kept<EventResource> event = Access::keep(*this);
  if (event->imported_by) return *event->imported_by;
  if (!event->options.ipc_enabled) {
    throw WrongState(text(*this, " can't be shared with other processes: make one with {.ipc_enabled = true}"));
  }
  ContextGuard guard(event->context);
  CUipcEventHandle handle{};
  driver::call<&Api::cuIpcGetEventHandle>(Doing{[&] { return text("exporting ", *this, " to other processes"); }},
                                          &handle, event->handle);
  IpcPayload payload;
  std::memcpy(payload.data(), &handle, sizeof(handle));
  return IpcAccess::event({core::this_process(), core::device_uuid(event->context.device)},
                          event->options.blocking_sync, payload);
}

Event Event::from_ipc_descriptor(const IPCEventDescriptor& descriptor) {
  const detail::IpcOrigin& origin = IpcAccess::origin(descriptor);
  if (origin.process == core::this_process()) {
    throw InvalidArgument(text("refused ", descriptor, ": it was made by this very process: use the event itself"));
  }
  const std::optional<int> device =
      origin == detail::IpcOrigin{} ? Device().device_id() : core::device_with(origin.device);
  if (!device) {
    throw InvalidArgument(text("refused ", descriptor, ": it is on the device with UUID ", origin.device,
                               ", which this process does not see"));
  }
  ContextGuard guard(core::ContextChoice::current_of(*device));
  return Access::make<Event, EventResource>(guard.context(), descriptor);
}

}  // namespace cuprum::inline CUPRUM_ABI
