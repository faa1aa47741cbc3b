// Events: see <cuprum/event.hpp>.
#include "bindings/event.hpp"

#include "bindings/common.hpp"
#include "bindings/ipc.hpp"

namespace cuprum::python {

EventOptions event_options_from(nb::handle given) {
  if (given.is_none()) return {};
  const nb::object options = options_object("EventOptions", given, "Event options");
  const EventOptions wanted{.timing_enabled = flag(options, "timing_enabled"),
                            .blocking_sync = flag(options, "blocking_sync"),
                            .ipc_enabled = flag(options, "ipc_enabled")};
  if (wanted.ipc_enabled && wanted.timing_enabled) throw nb::type_error("IPC-enabled events cannot use timing.");
  if (wanted.ipc_enabled) prepare_pickling();
  return wanted;
}

namespace {

IPCEventDescriptor event_descriptor(const Event& self) {
  if (!self.is_ipc_enabled()) throw std::runtime_error("Event is not IPC-enabled");
  return without_gil([&] { return self.ipc_descriptor(); });
}

/// Of another process: whose device and context it is of, this one does not know.
struct ImportedEvent : Event {};

ImportedEvent imported_event(nb::handle descriptor) {
  if (!nb::isinstance<IPCEventDescriptor>(descriptor)) {
    throw nb::type_error(
        ("Argument 'ipc_descriptor' has incorrect type (expected IPCEventDescriptor, got " + type_of(descriptor) + ")")
            .c_str());
  }
  prepare_pickling();
  const IPCEventDescriptor& wanted = nb::cast<const IPCEventDescriptor&>(descriptor);
  return {without_gil([&] { return Event::from_ipc_descriptor(wanted); })};
}

nb::tuple reduce_event(const Event& self) {
  return nb::make_tuple(nb::module_::import_("cuprum._ipc").attr("event_from_descriptor"),
                        nb::make_tuple(event_descriptor(self)));
}

}  // namespace

void bind_event(nb::module_& module) {
  nb::class_<Event> bound(module, "Event", nb::is_weak_referenceable(),
                          "A point in a stream that the host or another stream can wait for, and between two of which "
                          "time can be measured.\n\n"
                          ">>> from cuprum import Device\n"
                          ">>> device = Device(); device.set_current()\n"
                          ">>> stream = device.create_stream()\n"
                          ">>> start = stream.record(options={'timing_enabled': True})\n"
                          ">>> end = stream.record(options={'timing_enabled': True})\n"
                          ">>> end.sync()\n"
                          ">>> end - start >= 0\n"
                          "True\n");
  forbid_construction(bound,
                      "Event objects cannot be instantiated directly. Please use Stream APIs (record) or "
                      "Device.create_event().");
  bound.def("close", &Event::close, WithoutGil(), "Ends the event. Closing twice does nothing.")
      .def("sync", &Event::sync, WithoutGil(), "Waits until the work before the latest record is done.")
      .def_prop_ro("is_done", &Event::is_done, WithoutGil(), "Whether the work before the latest record is done.")
      .def_prop_ro("is_timing_enabled", &Event::is_timing_enabled, "Whether time can be measured with it.")
      .def_prop_ro("is_blocking_sync", &Event::is_blocking_sync, "Whether sync() sleeps instead of spinning.")
      .def_prop_ro("ipc_descriptor", &event_descriptor, "Describes the event to other processes.")
      .def("get_ipc_descriptor", &event_descriptor, "ipc_descriptor, as it was called before.")
      .def_static("from_ipc_descriptor", &imported_event, "ipc_descriptor"_a.none(), "An event of another process.")
      .def("__reduce__", &reduce_event)
      .def_prop_ro("is_ipc_enabled", &Event::is_ipc_enabled, "Whether it can be shared with other processes.")
      .def_prop_ro(
          "handle", [](const Event& self) { return raw_handle("CUevent", self.handle()); }, "The CUevent.")
      .def_prop_ro(
          "device",
          [](Self<Event> self) {
            return nb::isinstance<ImportedEvent>(self) ? nb::none() : device_object(self->device());
          },
          "Its device; None for an event of another process.")
      .def_prop_ro(
          "context",
          [](Self<Event> self) { return nb::isinstance<ImportedEvent>(self) ? nb::none() : nb::cast(self->context()); },
          "The context that it was made in; None for an event of another process.")
      .def(
          "__sub__",
          [](const Event& self, const Event& other) {
            try {
              return static_cast<double>(self - other);
            } catch (const WrongState&) {
              throw;
            } catch (const InvalidArgument& error) {
              throw WrongState(error.what());  // cuda.core raises RuntimeError for whatever keeps two events apart
            }
          },
          WithoutGil(), nb::is_operator(), "The milliseconds from `other` to this event.")
      .def(
          "__rsub__", [](const Event&, nb::handle) { return nb::borrow(Py_NotImplemented); }, nb::arg().none())
      .def(
          "__isub__", [](const Event&, nb::handle) { return nb::borrow(Py_NotImplemented); }, nb::arg().none())
      .def(Equality<Event>())
      .def("__repr__", [](const Event& self) {
        return "<Event handle=" + hexadecimal(reinterpret_cast<std::uint64_t>(self.handle())) + ">";
      });
  nb::class_<ImportedEvent, Event>(module, "_ImportedEvent", "An Event of another process.");
}

}  // namespace cuprum::python
