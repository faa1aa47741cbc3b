// Waiting for something to happen.
#include <algorithm>
#include <cstdio>
#include <cuprum/system.hpp>
#include <limits>

#include "core/system/ask.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI::system {
namespace {

using nvml::Api;
using nvml::Result;

unsigned milliseconds(std::chrono::milliseconds timeout) {
  constexpr auto most = static_cast<std::chrono::milliseconds::rep>(std::numeric_limits<unsigned>::max());
  return static_cast<unsigned>(std::clamp<std::chrono::milliseconds::rep>(timeout.count(), 0, most));
}

std::optional<unsigned> instance(unsigned number) {
  return number == std::numeric_limits<unsigned>::max() ? std::nullopt : std::optional(number);
}

nvml::SystemEventSet system_set_of(const std::shared_ptr<void>& set) {
  return static_cast<nvml::SystemEventSet>(set.get());
}

}  // namespace

std::vector<EventType> Device::get_supported_event_types() const {
  return core::values_of<EventType>(core::ask<&Api::nvmlDeviceGetSupportedEventTypes, unsigned long long>(handle_));
}

DeviceEvents Device::register_events(const std::vector<EventType>& events) const { return {*this, events}; }

DeviceEvents::DeviceEvents(const Device& device, const std::vector<EventType>& events) {
  const auto set = core::ask<&Api::nvmlEventSetCreate, nvml::EventSet>();
  set_ = {set, [](void* gone) { nvml::api().nvmlEventSetFree(static_cast<nvml::EventSet>(gone)); }};
  nvml::call<&Api::nvmlDeviceRegisterEvents>(device.handle(), core::bits_for(events), set);
}

std::optional<EventData> DeviceEvents::wait(std::chrono::milliseconds timeout) const {
  nvml::EventData data;
  const Result result =
      nvml::try_call<&Api::nvmlEventSetWait_v2>(static_cast<nvml::EventSet>(set_.get()), &data, milliseconds(timeout));
  if (result == Result::timeout) return std::nullopt;
  if (result != Result::success) core::raise_nvml_error(static_cast<int>(result), "nvmlEventSetWait_v2");
  return EventData{Device::from_handle(data.device), static_cast<EventType>(data.type), data.data,
                   instance(data.gpu_instance_id), instance(data.compute_instance_id)};
}

// The number has the domain in its upper half, then bus, device and function.
Device SystemEvent::device() const {
  char bus_id[32];
  std::snprintf(bus_id, sizeof bus_id, "%08X:%02X:%02X.%X", gpu_id >> 16, gpu_id >> 8 & 0xFF, gpu_id >> 3 & 0x1F,
                gpu_id & 7);
  return Device::from_pci_bus_id(bus_id);
}

RegisteredSystemEvents::RegisteredSystemEvents(const std::vector<SystemEventType>& events) {
  nvml::SystemEventSetRequest made;
  nvml::call<&Api::nvmlSystemEventSetCreate>(&made);
  set_ = {made.set, [](void* gone) {
            nvml::SystemEventSetRequest request;
            request.set = static_cast<nvml::SystemEventSet>(gone);
            nvml::api().nvmlSystemEventSetFree(&request);
          }};
  nvml::SystemRegisterEventRequest request;
  request.types = core::bits_for(events);
  request.set = made.set;
  nvml::call<&Api::nvmlSystemRegisterEvents>(&request);
}

std::vector<SystemEvent> RegisteredSystemEvents::wait(std::chrono::milliseconds timeout, unsigned buffer_size) const {
  if (buffer_size == 0) throw InvalidArgument("buffer_size is 0: there must be room for an event");
  std::vector<nvml::SystemEventData> found(buffer_size);
  nvml::SystemEventSetWaitRequest request;
  request.timeout_ms = milliseconds(timeout);
  request.set = system_set_of(set_);
  request.data = found.data();
  request.data_size = buffer_size;
  const Result result = nvml::try_call<&Api::nvmlSystemEventSetWait>(&request);
  if (result == Result::timeout) return {};
  if (result != Result::success) core::raise_nvml_error(static_cast<int>(result), "nvmlSystemEventSetWait");
  std::vector<SystemEvent> events;
  for (unsigned i = 0; i < std::min(request.num_event, buffer_size); ++i)
    events.push_back({static_cast<SystemEventType>(found[i].type), found[i].gpu_id});
  return events;
}

RegisteredSystemEvents register_events(const std::vector<SystemEventType>& events) {
  return RegisteredSystemEvents(events);
}

}  // namespace cuprum::inline CUPRUM_ABI::system
