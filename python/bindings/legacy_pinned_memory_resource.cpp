// Page-locked memory without pools: see <cuprum/legacy_pinned_memory_resource.hpp>.
#include "bindings/memory_resource.hpp"

namespace cuprum::python {

void bind_legacy_pinned_memory_resource(nb::module_& module) {
  nb::class_<LegacyPinnedMemoryResource, MemoryResource> bound(
      module, "LegacyPinnedMemoryResource",
      "Page-locked memory of the host, allocated one by one, as all drivers and devices have it.\n\n"
      ">>> from cuprum import Device, LegacyPinnedMemoryResource\n"
      ">>> Device().set_current()\n"
      ">>> buffer = LegacyPinnedMemoryResource().allocate(2)\n"
      ">>> memoryview(buffer)[:] = b'ab'\n"
      ">>> bytes(buffer)\n"
      "b'ab'\n");
  add_native_class(bound);
  bind_deallocate_at_once<LegacyPinnedMemoryResource>(bound);
  bound.def("__init__", [](LegacyPinnedMemoryResource* self) { new (self) LegacyPinnedMemoryResource(); })
      .def_prop_ro(
          "device_id",
          [](const LegacyPinnedMemoryResource&) -> int {
            throw WrongState("a pinned memory resource is not bound to any GPU");
          },
          "Raises RuntimeError: the memory is the host's.")
      .def("__reduce__", [](const LegacyPinnedMemoryResource&) {
        return nb::make_tuple(nb::type<LegacyPinnedMemoryResource>(), nb::tuple());  // it has nothing of its own
      });
}

}  // namespace cuprum::python
