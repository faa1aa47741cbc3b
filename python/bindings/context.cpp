// Contexts: see <cuprum/context.hpp>.
#include "bindings/common.hpp"

namespace cuprum::python {

void bind_context(nb::module_& module) {
  nb::class_<Context> bound(module, "Context", nb::is_weak_referenceable(),
                            "What streams, events and loaded code of a device live in.\n\n"
                            "Made by Device.create_context and Device.set_current.\n\n"
                            ">>> from cuprum import Device\n"
                            ">>> device = Device(); device.set_current()\n"
                            ">>> device.create_stream().context == device.context\n"
                            "True\n");
  forbid_construction(bound, "Context objects cannot be instantiated directly. Use Device.create_context().");
  bound
      .def_prop_ro(
          "handle",
          [](const Context& self) -> nb::object {
            if (!self.handle()) return nb::none();
            return raw_handle("CUcontext", self.handle());
          },
          "The CUcontext; None when it is closed.")
      .def_prop_ro("_handle", [](Self<Context> self) { return self.object().attr("handle"); })
      .def_prop_ro(
          "is_green", [](const Context& self) { return self.handle() && self.is_green(); },
          "Whether it was given a part of the device; False when it is closed.")
      .def_prop_ro(
          "resources",
          [](const Context& self) {
            if (!self.handle()) throw WrongState("Cannot query resources on a closed context");
            return self.resources();
          },
          "What it was given of the device; all of it, unless it is green.")
      .def_prop_ro(
          "device", [](const Context& self) { return device_object(self.device()); }, "Its device.")
      .def(
          "create_stream",
          [](const Context& self, nb::handle options) {
            const StreamOptions wanted = stream_options_from(options);
            if (!self.handle()) throw WrongState("Cannot create a stream on a closed context");
            if (!self.is_green()) {
              throw WrongState(
                  "Context.create_stream() is only supported on green contexts. Use Device.create_stream() for primary "
                  "contexts.");
            }
            return without_gil([&] { return self.create_stream(wanted); });
          },
          "options"_a = nb::none(), "A stream in this green context, which need not be current.")
      .def("close", &Context::close, WithoutGil(), "Gives it up. What was made in it stays usable.")
      .def(Equality<Context>())
      .def("__repr__", [](const Context& self) {
        const std::string device = self.handle() ? " device=" + std::to_string(self.device().device_id()) : "";
        return "<Context handle=" + hexadecimal(reinterpret_cast<std::uint64_t>(self.handle())) + device + ">";
      });
}

}  // namespace cuprum::python
