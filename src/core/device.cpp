#include <cuprum/device.hpp>
#include <cuprum/driver.hpp>
#include <ostream>

#include "core/base/context.hpp"
#include "core/base/deferred.hpp"
#include "core/base/device_facts.hpp"
#include "core/base/device_uuid.hpp"
#include "core/base/empty_handle.hpp"
#include "core/memory/default_memory.hpp"
#include "core/stream/default_streams.hpp"
#include "core/stream/device_resources.hpp"
#include "core/stream/resources.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::context_for;
using core::ContextChoice;
using core::ContextGuard;
using detail::Access;
using driver::Api;
using driver::Doing;
using support::text;

namespace {

int current_or_first() {
  const core::ContextRecord* context = core::current_context();
  return context ? context->device : 0;
}

// Returns what was current. `owner` is kept for as long as the thread has the context from us.
std::optional<Context> make_current(const core::ContextRecord& context, std::shared_ptr<detail::OwnedContext> owner) {
  static thread_local std::shared_ptr<detail::OwnedContext> kept;
  std::optional<Context> before;
  if (const core::ContextRecord* current = core::current_context()) before = core::context_handle(*current);
  driver::call<&Api::cuCtxSetCurrent>(
      Doing{[&] { return text("making a context of device ", context.device, " current"); }}, context.handle);
  kept = std::move(owner);
  return before;
}

}  // namespace

Device::Device() : device_id_(current_or_first()) {}

Device::Device(int device_id) : device_id_(core::device_facts(device_id).device) {}

std::vector<Device> Device::all() {
  std::vector<Device> devices;
  for (int id = 0; id < count(); ++id) devices.push_back(Access::device(id));
  return devices;
}

int Device::count() { return core::device_count(); }

std::string Device::name() const { return core::device_facts(device_id_).name; }

Uuid Device::uuid() const { return core::device_uuid(device_id_); }

std::string Device::pci_bus_id() const {
  char id[32] = {};
  driver::call<&Api::cuDeviceGetPCIBusId>(Doing{[&] { return text("reading the PCI address of device ", device_id_); }},
                                          id, static_cast<int>(sizeof id), device_id_);
  return id;
}

ComputeCapability Device::compute_capability() const { return core::device_facts(device_id_).compute_capability; }

std::string Device::arch() const {
  const ComputeCapability capability = compute_capability();
  return text(capability.major, capability.minor);
}

bool Device::can_access_peer(const Device& peer) const {
  if (peer == *this) return true;  // the driver says no
  int possible = 0;
  driver::call<&Api::cuDeviceCanAccessPeer>(
      Doing{[&] { return text("asking whether device ", device_id_, " can access device ", peer.device_id_); }},
      &possible, device_id_, peer.device_id_);
  return possible != 0;
}

std::optional<Context> Device::set_current() const {
  return make_current(core::revived_primary_context(device_id_), nullptr);
}

std::optional<Context> Device::set_current(const Context& context) const {
  const auto resource = Access::keep(context);
  if (resource->context.device != device_id_) {
    throw InvalidArgument(
        text("making ", context, " current on device ", device_id_, ": call set_current of the context's own device"));
  }
  return make_current(resource->context, resource->owned);
}

Context Device::context() const { return core::context_handle(context_for(device_id_)); }

DeviceResources Device::resources() const { return core::resources_of(device_id_); }

Context Device::create_context(const ContextOptions& options) const {
  auto owned = core::make_deferrable<detail::OwnedContext>(device_id_, options);
  owned->context.owner = owned;
  return core::context_handle(owned->context);
}

void Device::sync() const {
  core::DestroyDeferred deferred;
  ContextGuard guard(ContextChoice::current_of(device_id_));
  driver::call<&Api::cuCtxSynchronize>(Doing{[&] { return text("waiting for device ", device_id_); }});
}

Stream Device::create_stream(const StreamOptions& options) const {
  ContextGuard guard(ContextChoice::current_of(device_id_));
  return Access::make<Stream, detail::StreamResource>(guard.context(), options);
}

Stream Device::checked(Stream stream) const {
  if (const Device actual = stream.device(); actual != *this) {
    throw InvalidArgument(
        text("wrapping a stream on device ", device_id_, ": it is one of device ", actual.device_id_));
  }
  return stream;
}

Event Device::create_event(const EventOptions& options) const {
  if (options.ipc_enabled) {
    throw InvalidArgument(
        "an event that is shared between processes is recorded when it is made: use Stream::record({.ipc_enabled = "
        "true})");
  }
  ContextGuard guard(ContextChoice::current_of(device_id_));
  return Access::make<Event, detail::EventResource>(guard.context(), options);
}

Stream Device::default_stream() const { return core::default_stream(core::usual_default_stream(), device_id_); }

Buffer Device::allocate(std::size_t size, const Stream& stream) const {
  return core::allocate_on(device_id_, size, stream);
}

MemoryResource Device::memory_resource() const { return core::memory_resource_of(device_id_); }

void Device::set_memory_resource(const MemoryResource& resource) const {
  if (!resource.implementation()) core::refuse_empty("memory resource");
  core::set_memory_resource_of(device_id_, resource);
}

std::ostream& operator<<(std::ostream& out, const Device& device) {
  return out << "device " << device.device_id() << " (" << device.name() << ")";
}

}  // namespace cuprum::inline CUPRUM_ABI
