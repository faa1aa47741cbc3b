// Waiting for something to happen to devices: see <cuprum/system/events.hpp>.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <chrono>

#include "bindings/system.hpp"

namespace cuprum::python {
namespace {

using std::chrono::milliseconds;
using SystemDevice = system::Device;
using EventRow =
    std::tuple<SystemDevice, std::string, unsigned long long, std::optional<unsigned>, std::optional<unsigned>>;

/// Waits with `look`, which gives what it found in a time, if anything; 0 ms is no limit. It is asked for a short while
/// again and again: Python's handlers of signals run in between, so that Ctrl-C ends the wait.
template <typename Look>
auto wait_in_slices(unsigned timeout_ms, Look look) {
  using Clock = std::chrono::steady_clock;
  constexpr milliseconds slice(100);
  const Clock::time_point end = Clock::now() + milliseconds(timeout_ms);
  while (true) {
    const auto rest = timeout_ms == 0 ? slice : std::chrono::ceil<milliseconds>(end - Clock::now());
    auto found = without_gil([&] { return look(std::clamp(rest, milliseconds(0), slice)); });
    if (found || (timeout_ms != 0 && Clock::now() >= end)) return found;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
}

std::optional<EventRow> next_event(const system::DeviceEvents& self, unsigned timeout_ms) {
  const auto event = wait_in_slices(timeout_ms, [&](milliseconds rest) { return self.wait(rest); });
  if (!event) return std::nullopt;
  return EventRow(event->device, name_of(event->event_type), event->event_data, event->gpu_instance_id,
                  event->compute_instance_id);
}

std::vector<std::tuple<std::string, unsigned>> next_system_events(const system::RegisteredSystemEvents& self,
                                                                  unsigned timeout_ms, unsigned buffer_size) {
  const auto look = [&](milliseconds rest) -> std::optional<std::vector<system::SystemEvent>> {
    std::vector<system::SystemEvent> events = self.wait(rest, buffer_size);
    return events.empty() ? std::nullopt : std::optional(std::move(events));
  };
  std::vector<std::tuple<std::string, unsigned>> rows;
  if (const auto events = wait_in_slices(timeout_ms, look))
    for (const system::SystemEvent& event : *events) rows.emplace_back(name_of(event.event_type), event.gpu_id);
  return rows;
}

}  // namespace

void bind_system_events(nb::module_& module, nb::class_<SystemDevice>& bound) {
  nb::class_<system::DeviceEvents>(module, "SystemDeviceEvents", "What cuprum.system.DeviceEvents waits with.")
      .def("wait", &next_event, "timeout_ms"_a);
  nb::class_<system::RegisteredSystemEvents>(module, "SystemEventSet",
                                             "What cuprum.system.RegisteredSystemEvents waits with.")
      .def("wait", &next_system_events, "timeout_ms"_a, "buffer_size"_a);
  bound
      .def("get_supported_event_types",
           [](const SystemDevice& self) { return names_of(self.get_supported_event_types()); })
      .def(
          "register_events",
          [](const SystemDevice& self, const std::vector<std::string>& events) {
            return self.register_events(values_of<system::EventType>(events));
          },
          "events"_a);
  module.def(
      "system_register_events",
      [](const std::vector<std::string>& events) {
        return system::register_events(values_of<system::SystemEventType>(events));
      },
      "events"_a);
  module.def(
      "system_device_of_event", [](unsigned gpu_id) { return system::SystemEvent{{}, gpu_id}.device(); }, "gpu_id"_a);
}

}  // namespace cuprum::python
