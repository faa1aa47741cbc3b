// Memory pools of devices and of page-locked memory: see <cuprum/memory_pool.hpp> and the headers of its kinds.
#include "bindings/device.hpp"
#include "bindings/ipc.hpp"
#include "bindings/memory_resource.hpp"
#include "bindings/uuid.hpp"

template <>
void nanobind::detail::wrap_destruct<cuprum::DeviceMemoryResource>(void* object) noexcept {
  cuprum::python::destroy_without_gil<cuprum::DeviceMemoryResource>(object);
}
template <>
void nanobind::detail::wrap_destruct<cuprum::PinnedMemoryResource>(void* object) noexcept {
  cuprum::python::destroy_without_gil<cuprum::PinnedMemoryResource>(object);
}
template <>
void nanobind::detail::wrap_destruct<cuprum::MemoryPoolAttributes>(void* object) noexcept {
  cuprum::python::destroy_without_gil<cuprum::MemoryPoolAttributes>(object);
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
                                           .max_size = size_from(given.attr("max_size"), "max_size")};
  if (wanted.ipc_enabled) prepare_pickling();
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
                                           .max_size = size_from(given.attr("max_size"), "max_size"),
                                           .numa_id = field<std::optional<int>>(given, "numa_id")};
  if (wanted.numa_id && *wanted.numa_id < 0)
    throw nb::value_error(("numa_id must be >= 0, got " + std::to_string(*wanted.numa_id)).c_str());
  if (wanted.ipc_enabled) prepare_pickling();
  const PinnedMemoryResource made = without_gil([&] { return PinnedMemoryResource(wanted); });
  new (self) PinnedMemoryResource(made);
}

/// What cuda.core raises TypeError for; the library has another error.
const MemoryPool& to_allocate_from(const MemoryPool& pool) {
  if (pool.is_ipc_enabled() && pool.is_mapped())
    throw nb::type_error("Cannot allocate from a mapped IPC-enabled memory resource");
  return pool;
}

/// Device.allocate makes the allocation a part of the graph; a pool that is named does not give its memory to one.
void refuse_capturing(nb::handle stream) {
  if (!nb::isinstance<graph::GraphBuilder>(stream) || !nb::inst_ptr<graph::GraphBuilder>(stream)->is_building()) return;
  throw std::runtime_error(
      "a memory pool cannot perform memory operations on a capturing stream (consider using GraphMemoryResource).");
}

nb::object allocate_from_pool(Self<MemoryPool> self, nb::handle size, nb::handle stream) {
  const MemoryPool& pool = to_allocate_from(*self);
  refuse_capturing(stream);
  const std::size_t bytes = size_from(size);
  const Stream queue = stream_or_default(stream);
  return buffer_from_resource(without_gil([&] { return pool.allocate(bytes, queue); }), self);
}

bool is_shared(const MemoryPool& pool) { return pool.handle() && pool.is_ipc_enabled(); }

nb::object uuid_of(const MemoryPool& pool) {
  if (!is_shared(pool)) return nb::none();
  const std::optional<Uuid> uuid = pool.uuid();
  return uuid ? uuid_object(*uuid) : nb::none();
}

std::vector<Device> devices_from(nb::handle given) {
  std::vector<Device> devices;
  for (nb::handle device : items_of(given, "peer_accessible_by", "a sequence of devices or their numbers"))
    devices.push_back(device_from(device, "each of peer_accessible_by"));
  return devices;
}

template <typename Number>
std::string line_of(const char* name, Number value) {
  return std::string(name) + "=" + std::to_string(value);
}

std::string attributes_in_words(const MemoryPoolAttributes& self) {
  const auto word = [](const char* name, bool value) { return std::string(name) + (value ? "=True" : "=False"); };
  return "_MemPoolAttributes(" + line_of("release_threshold", self.release_threshold()) + ", " +
         line_of("reserved_mem_current", self.reserved_mem_current()) + ", " +
         line_of("reserved_mem_high", self.reserved_mem_high()) + ", " +
         word("reuse_allow_internal_dependencies", self.reuse_allow_internal_dependencies()) + ", " +
         word("reuse_allow_opportunistic", self.reuse_allow_opportunistic()) + ", " +
         word("reuse_follow_event_dependencies", self.reuse_follow_event_dependencies()) + ", " +
         line_of("used_mem_current", self.used_mem_current()) + ", " + line_of("used_mem_high", self.used_mem_high()) +
         ")";
}

void bind_attributes(nb::module_& module) {
  using Attributes = MemoryPoolAttributes;
  nb::class_<Attributes> bound(module, "_MemPoolAttributes",
                               "What a pool keeps, reuses and has given out; asked of the driver each time.");
  forbid_construction(bound, "_MemPoolAttributes cannot be instantiated directly. Please use MemoryResource APIs.");
  bound
      .def_prop_rw("reuse_follow_event_dependencies", &Attributes::reuse_follow_event_dependencies,
                   &Attributes::set_reuse_follow_event_dependencies, WithoutGil(),
                   "Whether memory freed on one stream may be reused on another that waited for an event after that.")
      .def_prop_rw("reuse_allow_opportunistic", &Attributes::reuse_allow_opportunistic,
                   &Attributes::set_reuse_allow_opportunistic, WithoutGil(),
                   "Whether memory whose free is already done may be reused on any stream.")
      .def_prop_rw("reuse_allow_internal_dependencies", &Attributes::reuse_allow_internal_dependencies,
                   &Attributes::set_reuse_allow_internal_dependencies, WithoutGil(),
                   "Whether the driver may make one stream wait for another to reuse what is freed there.")
      .def_prop_rw("release_threshold", &Attributes::release_threshold, &Attributes::set_release_threshold,
                   WithoutGil(), "Bytes that the pool keeps instead of giving them back to the system.")
      .def_prop_ro("reserved_mem_current", &Attributes::reserved_mem_current, WithoutGil(), "Bytes that it holds.")
      .def_prop_ro("reserved_mem_high", &Attributes::reserved_mem_high, WithoutGil(), "The most it has held.")
      .def_prop_ro("used_mem_current", &Attributes::used_mem_current, WithoutGil(), "Bytes that are allocated.")
      .def_prop_ro("used_mem_high", &Attributes::used_mem_high, WithoutGil(), "The most that were allocated.")
      .def("__repr__", &attributes_in_words, WithoutGil());
}

void bind_pool(nb::module_& module) {
  nb::class_<MemoryPool, MemoryResource>(module, "_MemPool", "A memory resource that draws on a CUDA memory pool.")
      .def("allocate", &allocate_from_pool, "size"_a.none(), "stream"_a = nb::none(),
           "A Buffer of `size` bytes, usable by work that is queued on `stream` from now on.")
      .def("close", &MemoryPool::close, WithoutGil(),
           "Destroys a pool of its own; buffers stay valid. A pool of the driver's stays as it is.")
      .def("trim", &MemoryPool::trim, "min_bytes_to_keep"_a = 0, WithoutGil(),
           "Gives memory that is not in use back to the system, except for the last `min_bytes_to_keep` of it.")
      .def_prop_ro("attributes", &MemoryPool::attributes, "What the pool keeps, reuses and has given out.")
      .def_prop_ro(
          "handle", [](const MemoryPool& self) { return raw_handle("CUmemoryPool", self.handle()); },
          "The CUmemoryPool; 0 when it is closed.")
      .def_prop_ro("is_handle_owned", &MemoryPool::is_handle_owned,
                   "Whether the pool was made for this resource; else it is one of the driver's.")
      .def_prop_ro("is_ipc_enabled", &is_shared, "Whether it can be shared with other processes.")
      .def_prop_ro(
          "is_mapped", [](const MemoryPool& self) { return is_shared(self) && self.is_mapped(); },
          "Whether this is another process's pool: buffers can be imported from it, not allocated.")
      .def_prop_ro("uuid", &uuid_of, "Tells the pools that processes share apart; None when it is not shared.");
}

/// A handle of pinned memory that this process has not imported yet. As one of pinned memory it can't be taken for
/// another.
bool is_unknown_pinned_pool(nb::handle object) {
  if (!nb::isinstance<IPCAllocationHandle>(object)) return false;
  const IPCAllocationHandle& handle = nb::cast<const IPCAllocationHandle&>(object);
  if (!handle.is_pinned() || !handle.uuid()) return false;
  try {
    PinnedMemoryResource::from_registry(*handle.uuid());
    return false;
  } catch (const InvalidArgument&) {
    return true;
  }
}

void bind_device_memory(nb::module_& module) {
  nb::class_<DeviceMemoryResource, MemoryPool> bound(
      module, "DeviceMemoryResource",
      "A device's memory, allocated in stream order from the device's pool, or with options from one of its own.\n\n"
      ">>> from cuprum import Device, DeviceMemoryResource\n"
      ">>> device = Device(); device.set_current()\n"
      ">>> pool = DeviceMemoryResource(device, {'max_size': 1 << 20})\n"
      ">>> pool.allocate(1024, stream=device.default_stream).memory_resource is pool\n"
      "True\n");
  add_native_class(bound);
  bound.def("__init__", &make_device_memory, "device_id"_a.none(), "options"_a = nb::none())
      .def_prop_ro("_peers", &DeviceMemoryResource::peer_accessible_by)
      .def_prop_rw(
          "peer_accessible_by",
          [](Self<DeviceMemoryResource> self) {
            return nb::module_::import_("cuprum._memory_sets").attr("PeerAccessibleBySetProxy")(self.object());
          },
          [](const DeviceMemoryResource& self, nb::handle devices) {
            const std::vector<Device> wanted = devices_from(devices);
            without_gil([&] { self.set_peer_accessible_by(wanted); });
          },
          "The other devices that can access the pool's memory, as a set; assign devices or their numbers.");
  bind_pool_sharing<DeviceMemoryResource>(bound);
  bound.def_static(
      "from_allocation_handle",
      [](nb::handle device_id, nb::handle handle) {
        const Device device = device_from(device_id);
        if (is_unknown_pinned_pool(handle)) {
          const auto import = [](const auto& given) { return PinnedMemoryResource::from_allocation_handle(given); };
          return nb::cast(imported_pool(handle, import));
        }
        const auto import = [&](const auto& given) {
          return DeviceMemoryResource::from_allocation_handle(device, given);
        };
        return nb::cast(imported_pool(handle, import));
      },
      "device_id"_a.none(), "alloc_handle"_a.none(),
      "The pool of another process, by its IPCAllocationHandle or a bare file descriptor. A handle of pinned memory "
      "gives a "
      "PinnedMemoryResource.");

  nb::class_<PeerAccessibleBySet>(module, "_PeerSet")
      .def("contains", [](const PeerAccessibleBySet& self,
                          nb::handle device) { return self.contains(device_from(device, "a peer")); })
      .def("devices",
           [](const PeerAccessibleBySet& self) {
             nb::list devices;
             for (const Device& device : self) devices.append(device_object(device));
             return devices;
           })
      .def("update", [](const PeerAccessibleBySet& self, nb::handle devices) { self.update(devices_from(devices)); })
      .def("difference_update",
           [](const PeerAccessibleBySet& self, nb::handle devices) { self.difference_update(devices_from(devices)); })
      .def("intersection_update",
           [](const PeerAccessibleBySet& self, nb::handle devices) { self.intersection_update(devices_from(devices)); })
      .def("symmetric_difference_update", [](const PeerAccessibleBySet& self, nb::handle devices) {
        self.symmetric_difference_update(devices_from(devices));
      });
}

void bind_pinned_memory(nb::module_& module) {
  nb::class_<PinnedMemoryResource, MemoryPool> bound(
      module, "PinnedMemoryResource",
      "Page-locked memory of the host, which devices can access, too, allocated in stream order.\n\n"
      ">>> from cuprum import Device, PinnedMemoryResource\n"
      ">>> device = Device(); device.set_current()\n"
      ">>> buffer = PinnedMemoryResource().allocate(4, stream=device.default_stream)\n"
      ">>> memoryview(buffer)[:] = b'abcd'\n"
      ">>> bytes(buffer)\n"
      "b'abcd'\n");
  add_native_class(bound);
  bound.def("__init__", &make_pinned_memory, "options"_a = nb::none())
      .def_prop_ro(
          "numa_id", [](const PinnedMemoryResource& self) { return self.numa_id().value_or(-1); },
          "The NUMA node of the pool; -1 when the system chooses.");
  bind_pool_sharing<PinnedMemoryResource>(bound);
  bound.def_static(
      "from_allocation_handle",
      [](nb::handle handle) {
        return imported_pool(handle,
                             [](const auto& given) { return PinnedMemoryResource::from_allocation_handle(given); });
      },
      "alloc_handle"_a.none(), "The pool of another process, by its IPCAllocationHandle or a bare file descriptor.");
}

}  // namespace

void bind_memory_pools(nb::module_& module) {
  bind_attributes(module);
  bind_pool(module);
  bind_device_memory(module);
  bind_pinned_memory(module);
}

}  // namespace cuprum::python
