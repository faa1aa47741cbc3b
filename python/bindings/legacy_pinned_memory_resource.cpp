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
  bound.def("__init__", [](LegacyPinnedMemoryResource* self) { new (self) LegacyPinnedMemoryResource(); })
      .def(
          "deallocate",
          [](const LegacyPinnedMemoryResource& self, nb::handle pointer, nb::handle size, nb::handle stream) {
            const std::uint64_t address = raw_value(pointer, "ptr");
            const std::size_t bytes = size_from(size);
            if (stream.is_none()) return without_gil([&] { self.deallocate(address, bytes); });
            const Stream queue = own_stream_from(stream);
            without_gil([&] { self.deallocate(address, bytes, queue); });
          },
          "ptr"_a.none(), "size"_a.none(), "stream"_a = nb::none(),
          "Takes memory back after the work that is queued on `stream`; at once without one.")
      .def_prop_ro(
          "device_id", [](nb::handle) -> int { throw WrongState("a pinned memory resource is not bound to any GPU"); },
          "Raises RuntimeError: the memory is the host's.");
}

}  // namespace cuprum::python
