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
      .def_prop_ro("is_green", &Context::is_green, "Whether it has a part of the device only.")
      .def_prop_ro(
          "device", [](const Context& self) { return device_object(self.device()); }, "Its device.")
      .def(
          "create_stream",
          [](const Context& self, nb::handle options) {
            const StreamOptions wanted = stream_options_from(options);
            return without_gil([&] { return self.create_stream(wanted); });
          },
          "options"_a = nb::none(), "A stream in this context, which need not be current.")
      .def("close", &Context::close, WithoutGil(), "Gives it up. What was made in it stays usable.")
      .def(Equality<Context>())
      .def("__repr__", [](const Context& self) {
        const std::string device = self.handle() ? " device=" + std::to_string(self.device().device_id()) : "";
        return "<Context handle=" + hexadecimal(reinterpret_cast<std::uint64_t>(self.handle())) + device + ">";
      });
}

}  // namespace cuprum::python
