// Memory of graphs: see <cuprum/graph_memory_resource.hpp>.
#include "bindings/memory_resource.hpp"

namespace cuprum::python {
namespace {

[[noreturn]] void refuse_setting(const char* name) {
  PyErr_Format(PyExc_AttributeError, "attribute '%s' of 'GraphMemoryResourceAttributes' objects is not writable", name);
  throw nb::python_error();
}

/// Marks can be set back only.
void check_zero(nb::handle value, const char* name) {
  if (PyLong_Check(value.ptr()) && !PyObject_IsTrue(value.ptr())) return;
  PyErr_Format(PyExc_AttributeError, "Attribute '%s' may only be set to zero (got %R).", name, value.ptr());
  throw nb::python_error();
}

std::string graph_attributes_in_words(const GraphMemoryResourceAttributes& self) {
  return "GraphMemoryResourceAttributes(reserved_mem_current=" + std::to_string(self.reserved_mem_current()) +
         ", reserved_mem_high=" + std::to_string(self.reserved_mem_high()) +
         ", used_mem_current=" + std::to_string(self.used_mem_current()) +
         ", used_mem_high=" + std::to_string(self.used_mem_high()) + ")";
}

nb::object allocate_in_graph(Self<GraphMemoryResource> self, nb::handle size, nb::handle stream) {
  const std::size_t bytes = size_from(size);
  const Stream queue = stream_or_default(stream);
  try {
    return buffer_from_resource(without_gil([&] { return self->allocate(bytes, queue); }), self);
  } catch (const InvalidArgument& error) {
    throw std::runtime_error(
        std::string("GraphMemoryResource cannot perform memory operations on a non-capturing stream. ") + error.what());
  }
}

void bind_graph_attributes(nb::module_& module) {
  using Attributes = GraphMemoryResourceAttributes;
  nb::class_<Attributes> bound(module, "GraphMemoryResourceAttributes",
                               "How much memory of a device belongs to graphs; asked of the driver each time.");
  forbid_construction(bound,
                      "GraphMemoryResourceAttributes cannot be instantiated directly. Please use MemoryResource APIs.");
  bound
      .def_prop_rw(
          "reserved_mem_current", [](const Attributes& self) { return self.reserved_mem_current(); },
          [](const Attributes&, nb::handle) { refuse_setting("reserved_mem_current"); },
          "Bytes that are held for graphs.")
      .def_prop_rw(
          "reserved_mem_high", [](const Attributes& self) { return self.reserved_mem_high(); },
          [](const Attributes& self, nb::handle value) {
            check_zero(value, "reserved_mem_high");
            without_gil([&] { self.reset_reserved_mem_high(); });
          },
          nb::for_setter(nb::arg().none()), "The most there have been; set it to 0 to begin anew.")
      .def_prop_rw(
          "used_mem_current", [](const Attributes& self) { return self.used_mem_current(); },
          [](const Attributes&, nb::handle) { refuse_setting("used_mem_current"); }, "Bytes that graphs use.")
      .def_prop_rw(
          "used_mem_high", [](const Attributes& self) { return self.used_mem_high(); },
          [](const Attributes& self, nb::handle value) {
            check_zero(value, "used_mem_high");
            without_gil([&] { self.reset_used_mem_high(); });
          },
          nb::for_setter(nb::arg().none()), "The most there have been; set it to 0 to begin anew.")
      .def("__repr__", &graph_attributes_in_words, WithoutGil());
}

}  // namespace

void bind_graph_memory_resource(nb::module_& module) {
  bind_graph_attributes(module);
  nb::class_<GraphMemoryResource, MemoryResource> bound(module, "GraphMemoryResource",
                                                        "Allocates on streams that are being captured: the allocation "
                                                        "becomes a node of the graph. There is one for each\n"
                                                        "device.\n\n"
                                                        ">>> from cuprum import Device, GraphMemoryResource\n"
                                                        ">>> device = Device(); device.set_current()\n"
                                                        ">>> GraphMemoryResource(device) is GraphMemoryResource(0)\n"
                                                        "True\n");
  add_native_class(bound);
  bound
      .def(nb::new_([](nb::handle device_id) {
             const Device device = device_from(device_id);
             return memory_resource_object(without_gil([&] { return GraphMemoryResource(device); }));
           }),
           "device_id"_a.none())
      .def("allocate", &allocate_in_graph, "size"_a.none(), "stream"_a = nb::none(),
           "A Buffer of `size` bytes in the graph that is captured from `stream`.")
      .def_prop_ro("attributes", &GraphMemoryResource::attributes, "How much memory it has.")
      .def("trim", &GraphMemoryResource::trim, WithoutGil(), "Gives memory that graphs don't use back to the system.")
      .def("close", [](const GraphMemoryResource&) {}, "Does nothing: the resource is the device's.");
}

}  // namespace cuprum::python
