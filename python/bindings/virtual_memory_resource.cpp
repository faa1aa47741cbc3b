// Memory that can grow: see <cuprum/virtual_memory_resource.hpp>.
#include "bindings/memory_resource.hpp"

template <>
void nanobind::detail::wrap_destruct<cuprum::VirtualMemoryResource>(void* object) noexcept {
  cuprum::python::destroy_without_gil<cuprum::VirtualMemoryResource>(object);
}

namespace cuprum::python {
namespace {

/// A word of an enumeration, which is one of those at its place in `values`.
template <typename Enumeration>
Enumeration word_from(nb::handle options, const char* name, const char* type,
                      std::initializer_list<std::pair<const char*, Enumeration>> values) {
  nb::object enumeration = nb::module_::import_("cuprum.typing").attr(type);
  nb::object member = nb::module_::import_("cuprum._options").attr("member")(enumeration, options.attr(name), name);
  const std::string word = nb::cast<std::string>(nb::str(member));
  for (const auto& [spelling, value] : values)
    if (word == spelling) return value;
  throw nb::value_error((std::string(name) + ": " + word + " is not known").c_str());
}

template <typename Enumeration>
std::optional<Enumeration> word_or_none(nb::handle options, const char* name, const char* type,
                                        std::initializer_list<std::pair<const char*, Enumeration>> values) {
  if (options.attr(name).is_none()) return std::nullopt;
  return word_from(options, name, type, values);
}

std::optional<VirtualMemoryAccessType> access_from(nb::handle options, const char* name) {
  return word_or_none<VirtualMemoryAccessType>(
      options, name, "VirtualMemoryAccessType",
      {{"rw", VirtualMemoryAccessType::read_write}, {"r", VirtualMemoryAccessType::read}});
}

VirtualMemoryResourceOptions virtual_options_from(nb::handle given) {
  using Location = VirtualMemoryLocationType;
  using Handle = VirtualMemoryHandleType;
  using Granularity = VirtualMemoryGranularityType;
  const nb::object options = options_object("VirtualMemoryResourceOptions", given, "VirtualMemoryResource options");
  VirtualMemoryResourceOptions wanted;
  wanted.allocation_type = word_from<VirtualMemoryAllocationType>(
      options, "allocation_type", "VirtualMemoryAllocationType",
      {{"pinned", VirtualMemoryAllocationType::pinned}, {"managed", VirtualMemoryAllocationType::managed}});
  wanted.location_type = word_from<Location>(options, "location_type", "VirtualMemoryLocationType",
                                             {{"device", Location::device},
                                              {"host", Location::host},
                                              {"host_numa", Location::host_numa},
                                              {"host_numa_current", Location::host_numa_current}});
  wanted.handle_type = word_or_none<Handle>(
      options, "handle_type", "VirtualMemoryHandleType",
      {{"posix_fd", Handle::posix_fd}, {"win32_kmt", Handle::win32_kmt}, {"fabric", Handle::fabric}});
  wanted.granularity =
      word_from<Granularity>(options, "granularity", "VirtualMemoryGranularityType",
                             {{"minimum", Granularity::minimum}, {"recommended", Granularity::recommended}});
  wanted.gpu_direct_rdma = flag(options, "gpu_direct_rdma");
  if (!options.attr("addr_hint").is_none()) wanted.addr_hint = size_from(options.attr("addr_hint"), "addr_hint");
  if (!options.attr("addr_align").is_none()) wanted.addr_align = size_from(options.attr("addr_align"), "addr_align");
  for (nb::handle peer : nb::iter(nb::object(options.attr("peers"))))
    wanted.peers.push_back(value_from<int>(peer, "one of the peers"));
  wanted.self_access = access_from(options, "self_access");
  wanted.peer_access = access_from(options, "peer_access");
  return wanted;
}

template <typename Value>
nb::object word_of(const Value& value) {
  std::ostringstream text;
  text << value;
  return nb::str(text.str().c_str());
}

template <typename Value>
nb::object word_of(const std::optional<Value>& value) {
  return value ? word_of(*value) : nb::none();
}

/// The options as Python has them.
nb::object config_of(const VirtualMemoryResource& self) {
  const VirtualMemoryResourceOptions options = self.options();
  return nb::module_::import_("cuprum._options")
      .attr("VirtualMemoryResourceOptions")(
          "allocation_type"_a = word_of(options.allocation_type), "location_type"_a = word_of(options.location_type),
          "handle_type"_a = word_of(options.handle_type), "granularity"_a = word_of(options.granularity),
          "gpu_direct_rdma"_a = options.gpu_direct_rdma, "addr_hint"_a = options.addr_hint,
          "addr_align"_a = options.addr_align, "peers"_a = nb::tuple(nb::cast(options.peers)),
          "self_access"_a = word_of(options.self_access), "peer_access"_a = word_of(options.peer_access));
}

nb::object modify_allocation(const VirtualMemoryResource& self, nb::handle buffer, nb::handle new_size,
                             nb::handle config) {
  if (!nb::isinstance<Buffer>(buffer)) throw nb::type_error(("buf must be a Buffer, not " + type_of(buffer)).c_str());
  const Buffer& growing = *nb::inst_ptr<Buffer>(buffer);
  const std::size_t bytes = size_from(new_size, "new_size");
  if (config.is_none()) {
    without_gil([&] { self.modify_allocation(growing, bytes); });
  } else {
    const VirtualMemoryResourceOptions options = virtual_options_from(config);
    without_gil([&] { self.modify_allocation(growing, bytes, options); });
  }
  return nb::borrow(buffer);
}

}  // namespace

void bind_virtual_memory_resource(nb::module_& module) {
  nb::class_<VirtualMemoryResource, MemoryResource> bound(
      module, "VirtualMemoryResource",
      "Memory by CUDA's virtual memory management: buffers that can grow.\n\n"
      ">>> from cuprum import Device, VirtualMemoryResource\n"
      ">>> device = Device(); device.set_current()\n"
      ">>> resource = VirtualMemoryResource(device)\n"
      ">>> buffer = resource.allocate(1 << 20)\n"
      ">>> resource.modify_allocation(buffer, 4 << 20).size\n"
      "4194304\n");
  add_native_class(bound);
  bind_deallocate_at_once<VirtualMemoryResource>(bound);
  bound
      .def(
          "__init__",
          [](VirtualMemoryResource* self, nb::handle device_id, nb::handle config) {
            const Device device = device_from(device_id);
            const VirtualMemoryResourceOptions options = virtual_options_from(config);
            if (options.gpu_direct_rdma && !device.properties().gpu_direct_rdma_supported())
              throw NotSupported("GPU Direct RDMA is not supported on this device");
            const VirtualMemoryResource made = without_gil([&] { return VirtualMemoryResource(device, options); });
            new (self) VirtualMemoryResource(made);
          },
          "device_id"_a.none(), "config"_a = nb::none())
      .def("modify_allocation", &modify_allocation, "buf"_a.none(), "new_size"_a.none(), "config"_a = nb::none(),
           "Makes a buffer `new_size` bytes large, the contents stay; its address may change. Returns the buffer.")
      .def_prop_ro("config", &config_of, "The options that allocate() uses now.")
      .def_prop_ro(
          "device",
          [](const VirtualMemoryResource& self) -> nb::object {
            const std::optional<int> device = self.device_id();
            return device ? device_object(Device(*device)) : nb::none();
          },
          "The device that the memory is on; None for host memory.")
      .def("__reduce__",
           [](const VirtualMemoryResource& self) {
             const int device = self.device_id().value_or(Device().device_id());
             if (self.options().location_type == VirtualMemoryLocationType::host_numa)
               throw nb::type_error(
                   "a VirtualMemoryResource of a NUMA node can't be pickled: which one it is depends on the device");
             return nb::make_tuple(nb::type<VirtualMemoryResource>(), nb::make_tuple(device, config_of(self)));
           })
      .def("__repr__", [](Self<VirtualMemoryResource> self) {
        return nb::str("<VirtualMemoryResource device={}>").format(self.object().attr("device"));
      });
}

}  // namespace cuprum::python
