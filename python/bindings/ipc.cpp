// What is sent to other processes: see <cuprum/ipc.hpp>.
#include "bindings/ipc.hpp"

namespace cuprum::python {
namespace {

template <typename Descriptor>
nb::bytes bytes_of(const Descriptor& self) {
  const std::vector<std::byte> bytes = self.to_bytes();
  return nb::bytes(bytes.data(), bytes.size());
}

template <typename Descriptor>
nb::bytes payload_of(const Descriptor& self) {
  return nb::bytes(self.payload().data(), self.payload().size());
}

std::span<const std::byte> span_of(const nb::bytes& bytes) {
  return {static_cast<const std::byte*>(bytes.data()), bytes.size()};
}

/// (function, arguments) for pickle: functions of this module have no name that it finds.
template <typename Descriptor>
nb::tuple reduce(const Descriptor& self) {
  return nb::make_tuple(nb::module_::import_("cuprum._ipc").attr("from_bytes"),
                        nb::make_tuple(nb::type<Descriptor>(), bytes_of(self)));
}

template <typename Descriptor>
nb::class_<Descriptor> bind_descriptor(nb::module_& module, const char* name, const char* documentation,
                                       const char* refusal) {
  nb::class_<Descriptor> bound(module, name, nb::is_weak_referenceable(), documentation);
  forbid_construction(bound, refusal);
  bound.def("to_bytes", &bytes_of<Descriptor>, "What travels to the other process.")
      .def_static(
          "from_bytes", [](const nb::bytes& bytes) { return Descriptor::from_bytes(span_of(bytes)); }, "data"_a,
          "Reads what to_bytes() gave, in any process.")
      .def_prop_ro("payload", &payload_of<Descriptor>, "The driver's own description, for programs without cuprum.")
      .def("__reduce__", &reduce<Descriptor>)
      .def("__eq__", &equal<Descriptor>, nb::arg().none())
      .def("__hash__", [](const Descriptor& self) { return nb::hash(bytes_of(self)); })
      .def("__repr__", [](const Descriptor& self) {
        std::ostringstream text;
        text << "<" << self << ">";
        return text.str();
      });
  return bound;
}

int number_of(const IPCAllocationHandle& self) {
  if (self.handle() >= 0) return self.handle();
  throw nb::value_error("Cannot convert IPCAllocationHandle to int: the handle is closed.");
}

void bind_allocation_handle(nb::module_& module) {
  nb::class_<IPCAllocationHandle> bound(module, "IPCAllocationHandle", nb::is_weak_referenceable(),
                                        "The right to map a memory pool: a file descriptor, and which pool it is.");
  forbid_construction(bound,
                      "IPCAllocationHandle objects cannot be instantiated directly. Please use MemoryResource APIs.");
  bound.def("close", &IPCAllocationHandle::close, "Closes it; the pool that gave it is not affected.")
      .def("__int__", &number_of)
      .def_prop_ro("handle", &IPCAllocationHandle::handle, "The file descriptor; -1 when this is closed.")
      .def_prop_ro(
          "uuid",
          [](const IPCAllocationHandle& self) {
            const std::optional<Uuid> uuid = self.uuid();
            return uuid ? uuid_object(*uuid) : nb::none();
          },
          "Of the memory resource; None when nobody said.")
      .def("to_bytes", &bytes_of<IPCAllocationHandle>, "Which pool it is; the file descriptor travels on its own.")
      .def_static(
          "from_bytes",
          [](const nb::bytes& bytes, int file_descriptor) {
            return IPCAllocationHandle::from_bytes(span_of(bytes), file_descriptor);
          },
          "data"_a, "file_descriptor"_a, "Takes over a file descriptor, with what to_bytes() said about it.")
      .def_static(
          "_init",
          [](int file_descriptor, nb::handle uuid) {
            if (file_descriptor < 0) {
              throw nb::value_error(
                  ("Invalid allocation handle (fd) " + std::to_string(file_descriptor) + ": must be non-negative")
                      .c_str());
            }
            std::optional<Uuid> name;
            if (!uuid.is_none()) name = uuid_from(uuid);
            return IPCAllocationHandle::adopt(file_descriptor, name);
          },
          "handle"_a, "uuid"_a.none(), "Takes over a file descriptor that came by itself.")
      .def("__repr__", [](const IPCAllocationHandle& self) {
        std::ostringstream text;
        text << "<" << self << ">";
        return text.str();
      });
}

}  // namespace

nb::object handle_object(const MemoryPool& pool) {
  nb::object handle = object_beside_resource(pool, [](const MemoryResource& resource) {
    return nb::cast(resource.as<MemoryPool>().value().allocation_handle());
  });
  const bool is_closed = nb::cast<const IPCAllocationHandle&>(handle).handle() < 0;
  return is_closed ? nb::cast(pool.allocation_handle()) : handle;
}

void prepare_pickling() { nb::module_::import_("cuprum._ipc"); }

void bind_ipc(nb::module_& module) {
  bind_descriptor<IPCBufferDescriptor>(
      module, "IPCBufferDescriptor", "Describes a buffer to another process.",
      "IPCBufferDescriptor objects cannot be instantiated directly. Please use MemoryResource APIs.")
      .def_static(
          "adopt",
          [](const nb::bytes& payload, std::size_t size) { return IPCBufferDescriptor::adopt(span_of(payload), size); },
          "payload"_a, "size"_a,
          "Of the payload of a buffer that a program without cuprum exports. Less can be checked when it is imported.")
      .def_prop_ro("size", &IPCBufferDescriptor::size, "Of the buffer, in bytes.");
  bind_descriptor<IPCEventDescriptor>(
      module, "IPCEventDescriptor", "Describes an event to another process.",
      "IPCEventDescriptor objects cannot be instantiated directly. Please use Event APIs.")
      .def_static(
          "adopt",
          [](const nb::bytes& payload, bool is_blocking_sync) {
            return IPCEventDescriptor::adopt(span_of(payload), is_blocking_sync);
          },
          "payload"_a, "is_blocking_sync"_a = false,
          "Of the payload of an event that a program without cuprum exports. It is imported on the current device.")
      .def_prop_ro("is_blocking_sync", &IPCEventDescriptor::is_blocking_sync, "Whether sync() of the event sleeps.");
  bind_allocation_handle(module);
}

}  // namespace cuprum::python
