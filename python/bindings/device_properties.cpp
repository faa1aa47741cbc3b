// What a device says of itself: one property for each of the attributes.
#include "bindings/common.hpp"

namespace cuprum::python {

void bind_device_properties(nb::module_& module) {
  nb::class_<DeviceProperties> bound(module, "DeviceProperties",
                                     "What a device says of itself. Made by Device.properties.");
  forbid_construction(bound, "DeviceProperties cannot be instantiated directly. Use Device.properties.");
#define CUPRUM_DEVICE_PROPERTY(type, name, attribute) \
  bound.def_prop_ro(#name, [](const DeviceProperties& self) { return self.name(); });
#include <cuprum/detail/device_properties.def>
}

}  // namespace cuprum::python
