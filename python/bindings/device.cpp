// Devices: see <cuprum/device.hpp>.
#include "bindings/device.hpp"

#include "bindings/common.hpp"
#include "bindings/device_resources.hpp"
#include "bindings/event.hpp"
#include "bindings/memory_resource.hpp"
#include "bindings/system.hpp"
#include "bindings/texture.hpp"

namespace cuprum::python {
namespace {

/// The objects of one thread, by number. Python's own state of the thread has them and lets go of them with the thread;
/// this only finds them quickly. Threads of others get a new state for each time that they run Python.
struct DevicesOfThread {
  std::uint64_t thread_state = 0;
  std::vector<PyObject*> objects;
};

nb::object thread_device(int device_id) {
  static thread_local DevicesOfThread devices;
  const std::uint64_t thread_state = PyThreadState_GetID(PyThreadState_Get());
  if (devices.thread_state != thread_state) devices = {thread_state, {}};
  const auto index = static_cast<std::size_t>(device_id);
  if (index >= devices.objects.size()) devices.objects.resize(index + 1);
  PyObject*& place = devices.objects[index];
  if (!place) {
    nb::object object = nb::inst_alloc(nb::type<PythonDevice>());
    new (nb::inst_ptr<PythonDevice>(object)) PythonDevice{Device(device_id)};
    nb::inst_mark_ready(object);
    const std::string key = "cuprum.Device(" + std::to_string(device_id) + ")";
    PyObject* const of_thread = PyThreadState_GetDict();
    if (!of_thread || PyDict_SetItemString(of_thread, key.c_str(), object.ptr()) != 0) throw nb::python_error();
    place = object.ptr();
  }
  return nb::borrow(place);
}

[[noreturn]] void refuse_device_id(nb::handle given) {
  const std::string message = "device_id must be within [0, " + std::to_string(Device::count()) + "), got " +
                              nb::cast<std::string>(nb::repr(given));
  throw nb::value_error(message.c_str());
}

/// Device(), Device(1), Device(device).
nb::object make_device(nb::handle given) {
  if (given.is_none()) return thread_device(Device().device_id());
  if (nb::isinstance<PythonDevice>(given))
    return thread_device(nb::cast<const PythonDevice&>(given).device.device_id());
  return thread_device(device_from(given).device_id());
}

nb::tuple all_devices() {
  nb::list devices;
  for (const Device& device : Device::all()) devices.append(thread_device(device.device_id()));
  return nb::tuple(devices);
}

nb::object compute_capability(const PythonDevice& self) {
  static constinit MadeOnce type;
  const ComputeCapability capability = self.device.compute_capability();
  return type.get([] { return nb::object(nb::module_::import_("cuprum._types").attr("ComputeCapability")); })(
      capability.major, capability.minor);
}

/// cuda.core wants set_current() to have been called on this thread, so that a program that forgot is told on any
/// machine.
const Device& initialised(const PythonDevice& self) {
  if (self.is_initialised) return self.device;
  const std::string message = "Device " + std::to_string(self.device.device_id()) +
                              " is not yet initialized, perhaps you forgot to call .set_current() first?";
  throw_error("CUDAError", message.c_str());
}

/// The context as the object that was made current, if that is still there.
nb::object object_of(const Context& context, const nb::object& last) {
  if (last.is_valid()) {
    nb::object known = last();
    if (!known.is_none() && nb::cast<const Context&>(known) == context) return known;
  }
  return nb::cast(context);
}

nb::object set_current(PythonDevice& self, nb::handle context) {
  std::optional<Context> before;
  if (context.is_none()) {
    without_gil([&] { self.device.set_current(); });
    self.is_initialised = true;
    self.current = {};
    return nb::none();
  }
  if (!nb::isinstance<Context>(context))
    throw nb::type_error(("a Context object is required as ctx, not " + type_of(context)).c_str());
  const Context& wanted = nb::cast<const Context&>(context);
  if (wanted.device() != self.device) {
    throw WrongState(
        "the provided context was created on the device with id=" + std::to_string(wanted.device().device_id()) +
        ", which is different from the target id=" + std::to_string(self.device.device_id()));
  }
  before = without_gil([&] { return self.device.set_current(wanted); });
  self.is_initialised = true;
  const nb::object last = std::exchange(self.current, nb::weakref(context));
  return before ? object_of(*before, last) : nb::none();
}

Stream create_stream(const PythonDevice& self, nb::handle object, nb::handle options) {
  const Device& device = initialised(self);
  if (!object.is_none()) {
    if (!options.is_none()) throw nb::value_error("obj and options cannot be both specified");
    const Stream given = stream_from(object);
    if (!given.handle()) (void)given.context();  // which throws: it is closed
    return given;
  }
  const StreamOptions wanted = stream_options_from(options);
  return without_gil([&] { return device.create_stream(wanted); });
}

Event create_event(const PythonDevice& self, nb::handle options) {
  const EventOptions wanted = event_options_from(options);
  if (wanted.ipc_enabled) throw nb::type_error("IPC-enabled events must be bound; use Stream.record for creation.");
  const Device& device = initialised(self);
  return without_gil([&] { return device.create_event(wanted); });
}

nb::object allocate(const PythonDevice& self, nb::handle size, nb::handle stream) {
  const Device& device = initialised(self);
  if (nb::object resource = python_resource(device.memory_resource()); resource.is_valid())
    return checked_buffer(resource, resource.attr("allocate")(size, "stream"_a = stream_or_default(stream)));
  const std::size_t bytes = size_from(size);
  const Stream queue = stream_or_default(stream);
  return nb::cast(without_gil([&] { return device.allocate(bytes, queue); }));
}

Context create_context(const PythonDevice& self, nb::handle options) {
  const ContextOptions wanted = context_options_from(options);
  return without_gil([&] { return self.device.create_context(wanted); });
}

}  // namespace

nb::object device_object(const Device& device) { return thread_device(device.device_id()); }

Device device_from(nb::handle object, const char* what) {
  if (nb::isinstance<PythonDevice>(object)) return nb::cast<const PythonDevice&>(object).device;
  nb::object number = nb::steal(PyNumber_Index(object.ptr()));
  if (!number.is_valid()) {
    PyErr_Clear();
    throw nb::type_error((std::string(what) + " must be a Device or its number, not " + type_of(object)).c_str());
  }
  const long value = PyLong_AsLong(number.ptr());
  if (PyErr_Occurred()) {
    PyErr_Clear();
    refuse_device_id(object);
  }
  if (value < 0 || value >= Device::count()) refuse_device_id(object);
  return Device(static_cast<int>(value));
}

void bind_device(nb::module_& module) {
  module.def(
      "_make_device_current",
      [](int device_id) {
        set_current(*nb::inst_ptr<PythonDevice>(thread_device(std::max(device_id, 0))), nb::none());
      },
      "device_id"_a, "For what is unpickled before the process has called Device.set_current().");
  nb::class_<PythonDevice> bound(module, "Device", nb::is_weak_referenceable(), nb::type_slots(no_plain_allocation),
                                 "A device: where everything starts. There is one object of it for each thread.\n\n"
                                 ">>> from cuprum import Device\n"
                                 ">>> device = Device()\n"
                                 ">>> device.set_current()\n"
                                 ">>> Device(0) is device\n"
                                 "True\n");
  bound.def(nb::new_(&make_device), "device_id"_a = nb::none())
      .def_static("get_all_devices", &all_devices, "All devices, by number.")
      .def_prop_ro(
          "device_id", [](const PythonDevice& self) { return self.device.device_id(); }, "Its number.")
      .def_prop_ro(
          "pci_bus_id", [](const PythonDevice& self) { return self.device.pci_bus_id(); }, "As '0000:65:00.0'.")
      .def_prop_ro(
          "uuid",
          [](const PythonDevice& self) {
            std::ostringstream text;
            text << self.device.uuid();
            return text.str();
          },
          "Its UUID, without the prefix of NVIDIA's tools.")
      .def_prop_ro(
          "name", [](const PythonDevice& self) { return self.device.name(); }, "As the driver gives it.")
      .def_prop_ro(
          "properties",
          [](const PythonDevice& self) {
            return PythonDeviceProperties{self.device.properties(), self.device.device_id()};
          },
          "Its attributes.")
      .def_prop_ro("compute_capability", &compute_capability, "What its multiprocessors can do: (9, 0) for an H100.")
      .def_prop_ro(
          "arch", [](const PythonDevice& self) { return self.device.arch(); },
          "The compute capability as compilers write it after 'sm_': '90'.")
      .def_prop_ro(
          "context", [](const PythonDevice& self) { return initialised(self).context(); },
          "The context that functions of this device use on this thread.")
      .def_prop_ro("_context", [](const PythonDevice& self) { return initialised(self).context(); })
      .def_prop_ro(
          "resources", [](const PythonDevice& self) { return self.device.resources(); },
          "All that it has: what green contexts are made of.")
      .def_prop_ro(
          "default_stream", [](const PythonDevice&) { return default_stream(); }, "The default stream.")
      .def_prop_rw(
          "memory_resource",
          [](const PythonDevice& self) {
            const Device& device = initialised(self);
            return memory_resource_object(without_gil([&] { return device.memory_resource(); }));
          },
          [](const PythonDevice& self, nb::handle given) {
            const Device& device = initialised(self);
            const MemoryResource resource = memory_resource_from(given, "memory_resource");
            without_gil([&] { device.set_memory_resource(resource); });
          },
          nb::for_setter(nb::arg().none()), "What allocate() draws on, in all threads.")
      .def("allocate", &allocate, "size"_a.none(), "stream"_a = nb::none(),
           "A Buffer of `size` bytes from memory_resource, usable by work that is queued on `stream` from now on.")
      .def(
          "can_access_peer",
          [](const PythonDevice& self, nb::handle peer) {
            return self.device.can_access_peer(device_from(peer, "peer"));
          },
          "peer"_a.none(), "Whether kernels of this device can be given access to the memory of `peer`.")
      .def(
          "set_current", &set_current, nb::lock_self(), "ctx"_a = nb::none(),
          "Makes the device's primary context, or the given one, current on this thread. Returns the one before when a "
          "context is given.")
      .def("create_context", &create_context, "options"_a = nb::none(),
           "A green context of a part of the device, given as ContextOptions; it does not become current.")
      .def("create_stream", &create_stream, "obj"_a = nb::none(), "options"_a = nb::none(),
           "A new stream, or one that wraps the stream of `obj`, an object with __cuda_stream__.")
      .def(
          "create_graph_builder", [](const PythonDevice& self) { return initialised(self).create_graph_builder(); },
          "A builder of graphs with a stream of its own.")
      .def("create_event", &create_event, "options"_a = nb::none(), "An event that is yet to be recorded.")
      .def(
          "sync",
          [](const PythonDevice& self) {
            const Device& device = initialised(self);
            without_gil([&] { device.sync(); });
          },
          "Waits until all work of the device's context is done.")
      .def(
          "create_opaque_array",
          [](const PythonDevice& self, nb::handle options) { return create_opaque_array(initialised(self), options); },
          "options"_a.none(), "An array of texels, for textures and surfaces.")
      .def(
          "create_mipmapped_array",
          [](const PythonDevice& self, nb::handle options) {
            return create_mipmapped_array(initialised(self), options);
          },
          "options"_a.none(), "An array of texels in several levels of detail.")
      .def(
          "create_texture_object",
          [](const PythonDevice& self, nb::handle resource, nb::handle options) {
            return create_texture_object(initialised(self), resource, options);
          },
          nb::kw_only(), "resource"_a.none(), "options"_a = nb::none(),
          "A texture of what a ResourceDescriptor describes, for kernels to read.")
      .def(
          "create_surface_object",
          [](const PythonDevice& self, nb::handle resource) {
            return create_surface_object(initialised(self), resource);
          },
          nb::kw_only(), "resource"_a.none(), "A surface of an OpaqueArray, for kernels to read and write.")
      .def(
          "to_system_device",
          [](const PythonDevice& self) {
            const system::Device device = without_gil([&] { return system::Device::from_cuda_device(self.device); });
            return nb::module_::import_("cuprum.system").attr("Device").attr("_of")(device);
          },
          "The same device for those who look at it: a cuprum.system.Device.")
      .def("__int__", [](const PythonDevice& self) { return self.device.device_id(); })
      .def("__index__", [](const PythonDevice& self) { return self.device.device_id(); })
      .def("__repr__",
           [](const PythonDevice& self) {
             return "<Device " + std::to_string(self.device.device_id()) + " (" + self.device.name() + ")>";
           })
      .def("_repr_html_",
           [](Self<PythonDevice> self) {
             return nb::module_::import_("cuprum._notebooks").attr("device_table")(self.object());
           })
      .def("__hash__", [](const PythonDevice& self) { return std::hash<Device>{}(self.device); })
      .def("__eq__", &equal<PythonDevice>, nb::arg().none())
      .def("__reduce__", [](const PythonDevice& self) {
        return nb::make_tuple(nb::type<PythonDevice>(), nb::make_tuple(self.device.device_id()));
      });
}

}  // namespace cuprum::python
