// Memory pools: see <cuprum/memory_pool.hpp> and the headers of its kinds.
#include "bindings/device.hpp"
#include "bindings/memory_resource.hpp"

template <>
void nanobind::detail::wrap_destruct<cuprum::DeviceMemoryResource>(void* object) noexcept {
  cuprum::python::destroy_without_gil<cuprum::DeviceMemoryResource>(object);
}
template <>
void nanobind::detail::wrap_destruct<cuprum::PinnedMemoryResource>(void* object) noexcept {
  cuprum::python::destroy_without_gil<cuprum::PinnedMemoryResource>(object);
}

namespace cuprum::python {
namespace {

void make_device_memory(DeviceMemoryResource* self, nb::handle device_id, nb::handle options) {
  const Device device = device_from(device_id);
  if (options.is_none()) {
    const DeviceMemoryResource made = without_gil([&] { return DeviceMemoryResource(device); });
    new (self) DeviceMemoryResource(made);
    return;
  }
  const nb::object given = options_object("DeviceMemoryResourceOptions", options, "DeviceMemoryResource options");
  const DeviceMemoryResourceOptions wanted{.ipc_enabled = flag(given, "ipc_enabled"),
                                           .max_size = size_from(given.attr("max_size"))};
  const DeviceMemoryResource made = without_gil([&] { return DeviceMemoryResource(device, wanted); });
  new (self) DeviceMemoryResource(made);
}

void make_pinned_memory(PinnedMemoryResource* self, nb::handle options) {
  if (options.is_none()) {
    const PinnedMemoryResource made = without_gil([&] { return PinnedMemoryResource(); });
    new (self) PinnedMemoryResource(made);
    return;
  }
  const nb::object given = options_object("PinnedMemoryResourceOptions", options, "PinnedMemoryResource options");
  const PinnedMemoryResourceOptions wanted{.ipc_enabled = flag(given, "ipc_enabled"),
                                           .max_size = size_from(given.attr("max_size")),
                                           .numa_id = field<std::optional<int>>(given, "numa_id")};
  const PinnedMemoryResource made = without_gil([&] { return PinnedMemoryResource(wanted); });
  new (self) PinnedMemoryResource(made);
}

}  // namespace

void bind_memory_pools(nb::module_& module) {
  nb::class_<MemoryPool, MemoryResource>(module, "_MemPool", "A memory resource that draws on a CUDA memory pool.")
      .def("close", &MemoryPool::close, WithoutGil(),
           "Destroys a pool of its own; buffers stay valid. A pool of the driver's stays as it is.")
      .def_prop_ro(
          "handle",
          [](const MemoryPool& self) -> nb::object {
            if (!self.handle()) return nb::none();
            return raw_handle("CUmemoryPool", self.handle());
          },
          "The CUmemoryPool; None when it is closed.")
      .def_prop_ro("is_handle_owned", &MemoryPool::is_handle_owned,
                   "Whether the pool was made for this resource; else it is one of the driver's.");

  nb::class_<DeviceMemoryResource, MemoryPool> of_device(
      module, "DeviceMemoryResource",
      "A device's memory, allocated in stream order from the device's pool, or with options from one of its own.\n\n"
      ">>> from cuprum import Device, DeviceMemoryResource\n"
      ">>> device = Device(); device.set_current()\n"
      ">>> pool = DeviceMemoryResource(device, {'max_size': 1 << 20})\n"
      ">>> pool.allocate(1024, stream=device.default_stream).memory_resource is pool\n"
      "True\n");
  of_device.def("__init__", &make_device_memory, "device_id"_a.none(), "options"_a = nb::none());
  add_native_class(of_device);

  nb::class_<PinnedMemoryResource, MemoryPool> pinned(
      module, "PinnedMemoryResource",
      "Page-locked memory of the host, which devices can access, too, allocated in stream order.\n\n"
      ">>> from cuprum import Device, PinnedMemoryResource\n"
      ">>> device = Device(); device.set_current()\n"
      ">>> buffer = PinnedMemoryResource().allocate(4, stream=device.default_stream)\n"
      ">>> memoryview(buffer)[:] = b'abcd'\n"
      ">>> bytes(buffer)\n"
      "b'abcd'\n");
  pinned.def("__init__", &make_pinned_memory, "options"_a = nb::none());
  add_native_class(pinned);
}

}  // namespace cuprum::python
