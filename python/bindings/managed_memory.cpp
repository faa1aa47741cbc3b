// Managed memory: see <cuprum/managed_memory_resource.hpp> and <cuprum/managed_buffer.hpp>.
#include <atomic>

#include "bindings/buffer.hpp"
#include "bindings/buffer_collection.hpp"
#include "bindings/class_method.hpp"
#include "bindings/copy_options.hpp"
#include "bindings/device.hpp"
#include "bindings/memory_resource.hpp"

template <>
void nanobind::detail::wrap_destruct<cuprum::ManagedBuffer>(void* object) noexcept {
  cuprum::python::forget_in_collection(object);
  cuprum::python::destroy_without_gil<cuprum::ManagedBuffer>(object);
}
template <>
void nanobind::detail::wrap_destruct<cuprum::ManagedMemoryResource>(void* object) noexcept {
  cuprum::python::destroy_without_gil<cuprum::ManagedMemoryResource>(object);
}

namespace cuprum::python {
namespace {

std::atomic<bool> is_warned = false;

void warn_of_missing_concurrent_access() {
  if (Device(0).properties().concurrent_managed_access() || is_warned.exchange(true)) return;
  const int failed = PyErr_WarnEx(
      PyExc_UserWarning,
      "This platform does not support concurrent managed memory access (Device.properties.concurrent_managed_access is "
      "False): the host must not touch any managed memory while a kernel runs, whether or not the kernel uses it. "
      "Synchronize before, or the program ends with a segfault.",
      1);
  if (failed) throw nb::python_error();
}

nb::object location_type(const char* name) { return member_of("ManagedMemoryLocationType", name); }

std::optional<ManagedMemoryLocationType> location_type_from(nb::handle given) {
  if (given.is_none()) return std::nullopt;
  const std::string name = nb::cast<std::string>(nb::str(given));
  if (name == "device") return ManagedMemoryLocationType::device;
  if (name == "host") return ManagedMemoryLocationType::host;
  if (name == "host_numa") return ManagedMemoryLocationType::host_numa;
  throw nb::value_error(("preferred_location_type: '" + name +
                         "' is not a valid ManagedMemoryLocationType. Must be 'device', 'host' or 'host_numa'")
                            .c_str());
}

/// Says in terms of the options what the library would say in its own.
void check_location(const ManagedMemoryResourceOptions& options) {
  const std::optional<int> number = options.preferred_location;
  const std::string got = ", got " + (number ? std::to_string(*number) : "None");
  if (!options.preferred_location_type) {
    if (number && *number < -1) {
      throw nb::value_error(
          ("preferred_location must be a device ordinal (>= 0), -1 for host, or None for no preference" + got).c_str());
    }
    return;
  }
  switch (*options.preferred_location_type) {
    case ManagedMemoryLocationType::device:
      if (number && *number >= 0) return;
      throw nb::value_error(
          ("preferred_location must be a device ordinal (>= 0) when preferred_location_type is 'device'" + got)
              .c_str());
    case ManagedMemoryLocationType::host:
      if (!number) return;
      throw nb::value_error(("preferred_location must be None when preferred_location_type is 'host'" + got).c_str());
    case ManagedMemoryLocationType::host_numa:
      if (!number || *number >= 0) return;
      throw nb::value_error(("preferred_location must be a NUMA node ID (>= 0) or None when preferred_location_type is "
                             "'host_numa'" +
                             got)
                                .c_str());
  }
}

void make_managed_memory(ManagedMemoryResource* self, nb::handle options) {
  if (options.is_none()) {
    const ManagedMemoryResource made = without_gil([&] { return ManagedMemoryResource(); });
    warn_of_missing_concurrent_access();
    new (self) ManagedMemoryResource(made);
    return;
  }
  const nb::object given = options_object("ManagedMemoryResourceOptions", options, "ManagedMemoryResource options");
  const ManagedMemoryResourceOptions wanted{
      .preferred_location = field<std::optional<int>>(given, "preferred_location"),
      .preferred_location_type = location_type_from(given.attr("preferred_location_type"))};
  check_location(wanted);
  const ManagedMemoryResource made = without_gil([&] { return ManagedMemoryResource(wanted); });
  warn_of_missing_concurrent_access();
  new (self) ManagedMemoryResource(made);
}

nb::object allocate_managed(Self<ManagedMemoryResource> self, nb::handle size, nb::handle stream) {
  const std::size_t bytes = size_from(size);
  const Stream queue = stream_or_default(stream);
  return buffer_from_resource(without_gil([&] { return self->allocate(bytes, queue); }), self);
}

nb::object preferred_location_of(const ManagedMemoryResource& self) {
  const std::optional<Location> location = self.preferred_location();
  if (!location) return nb::none();
  if (location->is_device()) return nb::make_tuple(location_type("device"), location->id());
  if (location->type() == LocationType::host) return nb::make_tuple(location_type("host"), nb::none());
  return nb::make_tuple(location_type("host_numa"), location->id());
}

Location place_from(nb::handle object) {
  if (object.is_none()) throw nb::value_error("location is required: a Device or a Host");
  return location_from(object);
}

void set_preferred_location(const ManagedBuffer& self, nb::handle given) {
  std::optional<Location> location;
  if (!given.is_none()) location = location_from(given);
  require_managed(self, "preferred_location");
  without_gil([&] { self.set_preferred_location(location); });
}

/// The driver does not tell NUMA nodes apart here.
Location accessing_from(nb::handle object) {
  const Location location = location_from(object);
  if (location.is_device() || location.type() == LocationType::host) return location;
  std::ostringstream text;
  text << "accessed_by does not support location_type='" << location.type() << "': use Host() for the host as a whole";
  throw nb::value_error(text.str().c_str());
}

void set_accessed_by(const ManagedBuffer& self, nb::handle given) {
  std::vector<Location> locations;
  for (nb::handle place : nb::iter(given)) locations.push_back(accessing_from(place));
  require_managed(self, "accessed_by");
  without_gil([&] { self.set_accessed_by(locations); });
}

void bind_resource(nb::module_& module) {
  nb::class_<ManagedMemoryResource, MemoryPool> bound(
      module, "ManagedMemoryResource",
      "Memory with one address for the host and all devices, which moves to where it is used.\n\n"
      ">>> from cuprum import Device, ManagedMemoryResource\n"
      ">>> device = Device(); device.set_current()\n"
      ">>> resource = ManagedMemoryResource({'preferred_location': 0})\n"
      ">>> resource.allocate(16, stream=device.default_stream).is_managed\n"
      "True\n");
  add_native_class(bound);
  bound.def("__init__", &make_managed_memory, "options"_a = nb::none())
      .def("allocate", &allocate_managed, "size"_a.none(), "stream"_a = nb::none(),
           "A ManagedBuffer of `size` bytes, usable by work that is queued on `stream` from now on.")
      .def_prop_ro("preferred_location", &preferred_location_of,
                   "(type, number) of where the memory should be, the number None for the host; None for anywhere.")
      .def_prop_ro(
          "device_id",
          [](const ManagedMemoryResource& self) {
            const std::optional<Location> location = self.preferred_location();
            return location && location->is_device() ? location->id() : -1;
          },
          "The device where the memory should be; -1 when that is none.");
  module.def(
      "reset_concurrent_access_warning",
      [] {
        is_warned = false;
        reset_concurrent_access_warning();
      },
      "Lets the next ManagedMemoryResource warn again where the host can't use managed memory beside kernels.");
}

void bind_managed_buffer(nb::module_& module) {
  nb::class_<ManagedBuffer, Buffer> bound(
      module, "ManagedBuffer",
      "A Buffer whose memory moves to where it is used, with advice on where that is.\n\n"
      ">>> from cuprum import Device, Host, ManagedMemoryResource\n"
      ">>> device = Device(); device.set_current()\n"
      ">>> stream = device.create_stream()\n"
      ">>> buffer = ManagedMemoryResource().allocate(4096, stream=stream)\n"
      ">>> buffer.prefetch(Host(), stream=stream)\n"
      ">>> stream.sync()\n");
  bound
      .def("__init__",
           [](nb::handle, nb::args, nb::kwargs) {
             throw WrongState("ManagedBuffer objects cannot be instantiated directly. Please use MemoryResource APIs.");
           })
      .def_static(
          "from_handle",
          [](nb::handle cls, nb::handle pointer, nb::handle size, nb::handle resource, nb::handle owner,
             nb::handle stream) {
            return object_of_class(cls, buffer_from_handle<ManagedBuffer>(pointer, size, resource, owner, stream));
          },
          "cls"_a, "ptr"_a.none(), "size"_a.none(), "mr"_a = nb::none(), "owner"_a = nb::none(), nb::kw_only(),
          "stream"_a = nb::none(), "Wraps managed memory that somebody else has allocated, as Buffer.from_handle does.")
      .def_prop_rw(
          "read_mostly", [](const ManagedBuffer& self) { return without_gil([&] { return self.read_mostly(); }); },
          [](const ManagedBuffer& self, bool wanted) {
            require_managed(self, "read_mostly");
            without_gil([&] { self.set_read_mostly(wanted); });
          },
          "Whether readers may get copies of their own.")
      .def_prop_rw(
          "preferred_location",
          [](const ManagedBuffer& self) -> nb::object {
            const std::optional<Location> location = without_gil([&] { return self.preferred_location(); });
            return location ? location_object(*location) : nb::none();
          },
          &set_preferred_location, nb::for_setter(nb::arg().none()),
          "Where the memory should stay, a Device or a Host; None for no preference.")
      .def_prop_ro("_accessed_by", &ManagedBuffer::accessed_by)
      .def_prop_rw(
          "accessed_by",
          [](Self<ManagedBuffer> self) {
            return nb::module_::import_("cuprum._memory_sets").attr("AccessedBySetProxy")(self.object());
          },
          &set_accessed_by, "The places that the memory is kept mapped for, as a set; assign devices and hosts.")
      .def(
          "prefetch",
          [](const ManagedBuffer& self, nb::handle location, nb::handle stream) {
            const Location place = place_from(location);
            const Stream queue = own_stream_from(stream);
            require_managed(self, "prefetch");
            without_gil([&] { self.prefetch(place, queue); });
          },
          "location"_a.none(), nb::kw_only(), "stream"_a.none(), "Moves the memory to a place, in stream order.")
      .def(
          "discard",
          [](const ManagedBuffer& self, nb::handle stream) {
            const Stream queue = own_stream_from(stream);
            require_managed(self, "discard");
            without_gil([&] { self.discard(queue); });
          },
          nb::kw_only(), "stream"_a.none(), "Says that the contents are not needed any more, in stream order.")
      .def(
          "discard_prefetch",
          [](const ManagedBuffer& self, nb::handle location, nb::handle stream) {
            const Location place = place_from(location);
            const Stream queue = own_stream_from(stream);
            require_managed(self, "discard_prefetch");
            without_gil([&] { self.discard_prefetch(place, queue); });
          },
          "location"_a.none(), nb::kw_only(), "stream"_a.none(), "Discards the contents and moves the memory.");
  make_class_method(bound, "from_handle");
}

void bind_accessed_by(nb::module_& module) {
  nb::class_<AccessedBySet>(module, "_AccessedBySet")
      .def("contains", [](const AccessedBySet& self, nb::handle place) { return self.contains(location_from(place)); })
      .def("locations",
           [](const AccessedBySet& self) {
             nb::list places;
             for (const Location& place : self) places.append(location_object(place));
             return places;
           })
      .def("add", [](const AccessedBySet& self, nb::handle place) { self.add(accessing_from(place)); })
      .def("discard", [](const AccessedBySet& self, nb::handle place) { self.discard(location_from(place)); });
}

}  // namespace

void bind_managed_memory(nb::module_& module) {
  bind_resource(module);
  bind_managed_buffer(module);
  bind_accessed_by(module);
}

}  // namespace cuprum::python
