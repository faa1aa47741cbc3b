// What a device says of itself: one property for each of the attributes.
#include "bindings/device.hpp"

namespace cuprum::python {

void bind_device_properties(nb::module_& module) {
  nb::class_<PythonDeviceProperties> bound(
      module, "DeviceProperties",
      "What a device says of itself. Made by Device.properties. Pickled, it is that "
      "of the device with the same number where it is unpickled.");
  forbid_construction(bound, "DeviceProperties cannot be instantiated directly. Use Device.properties.");
#define CUPRUM_DEVICE_PROPERTY(type, name, attribute) \
  bound.def_prop_ro(#name, [](const PythonDeviceProperties& self) { return self.properties.name(); });
#include <cuprum/detail/device_properties.def>
  bound.def("__reduce__", [](const PythonDeviceProperties& self) {
    const nb::object make = nb::module_::import_("cuprum._pickling").attr("device_properties");
    return nb::make_tuple(make, nb::make_tuple(self.device_id));
  });
}

}  // namespace cuprum::python
