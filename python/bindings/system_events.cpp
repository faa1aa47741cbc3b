// Waiting for something to happen to devices: see <cuprum/system/events.hpp>.
#include <nanobind/stl/tuple.h>

#include "bindings/system.hpp"

namespace cuprum::python {
namespace {

using std::chrono::milliseconds;
using SystemDevice = system::Device;
using EventRow =
    std::tuple<SystemDevice, std::string, unsigned long long, std::optional<unsigned>, std::optional<unsigned>>;

std::optional<EventRow> next_event(const system::DeviceEvents& self, unsigned timeout_ms) {
  const std::optional<system::EventData> event = self.wait(milliseconds(timeout_ms));
  if (!event) return std::nullopt;
  return EventRow(event->device, name_of(event->event_type), event->event_data, event->gpu_instance_id,
                  event->compute_instance_id);
}

std::vector<std::tuple<std::string, unsigned>> next_system_events(const system::RegisteredSystemEvents& self,
                                                                  unsigned timeout_ms, unsigned buffer_size) {
  std::vector<std::tuple<std::string, unsigned>> rows;
  for (const system::SystemEvent& event : self.wait(milliseconds(timeout_ms), buffer_size))
    rows.emplace_back(name_of(event.event_type), event.gpu_id);
  return rows;
}

}  // namespace

void bind_system_events(nb::module_& module, nb::class_<SystemDevice>& bound) {
  nb::class_<system::DeviceEvents>(module, "SystemDeviceEvents", "What cuprum.system.DeviceEvents waits with.")
      .def("wait", &next_event, "timeout_ms"_a, WithoutGil());
  nb::class_<system::RegisteredSystemEvents>(module, "SystemEventSet",
                                             "What cuprum.system.RegisteredSystemEvents waits with.")
      .def("wait", &next_system_events, "timeout_ms"_a, "buffer_size"_a, WithoutGil());
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
