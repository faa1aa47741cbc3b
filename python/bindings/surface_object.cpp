// Surfaces: see <cuprum/texture/surface_object.hpp>.
#include "bindings/texture.hpp"

template <>
void nanobind::detail::wrap_destruct<cuprum::python::PythonSurface>(void* object) noexcept {
  auto* surface = static_cast<cuprum::python::PythonSurface*>(object);
  cuprum::texture::SurfaceObject last = std::move(surface->surface);
  surface->~PythonSurface();
  cuprum::python::GilRelease released;  // giving memory back may wait
  last = {};
}

namespace cuprum::python {
namespace {

void close_surface(PythonSurface& self) {
  without_gil([&] { self.surface.close(); });
  self.resource = nb::none();
}

int traverse_surface(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  Py_VISIT(nb::inst_ptr<PythonSurface>(self)->resource.ptr());
  return 0;
}

int clear_surface(PyObject* self) {
  nb::inst_ptr<PythonSurface>(self)->resource.reset();
  return 0;
}

PyType_Slot surface_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_surface)},
                               {Py_tp_clear, reinterpret_cast<void*>(&clear_surface)},
                               {0, nullptr}};

}  // namespace

PythonSurface create_surface_object(const Device& device, nb::handle resource) {
  const texture::ResourceDescriptor& shown = resource_from(resource);
  if (shown.kind() != texture::ResourceKind::array) {
    const std::string kind = nb::cast<std::string>(nb::object(resource.attr("kind")));
    throw nb::value_error(("SurfaceObject requires an array-backed ResourceDescriptor, not one of kind '" + kind +
                           "': use from_opaque_array(), with a level of a MipmappedArray")
                              .c_str());
  }
  const nb::object array = nb::object(resource.attr("source"));
  if (!nb::inst_ptr<PythonArray>(array)->facts.is_surface_load_store) {
    throw nb::value_error("the OpaqueArray of a SurfaceObject must be created with is_surface_load_store=True");
  }
  return {without_gil([&] { return device.create_surface_object(shown); }), device, nb::borrow(resource)};
}

void bind_surface_object(nb::module_& module) {
  nb::class_<PythonSurface> bound(
      module, "SurfaceObject", nb::is_weak_referenceable(), nb::type_slots(surface_slots),
      "How kernels read and write the texels of an array. launch() passes it as the kernel's cudaSurfaceObject_t. It "
      "keeps its array; graphs keep it.\n\n"
      ">>> from cuprum import Device\n"
      ">>> from cuprum.texture import ResourceDescriptor\n"
      ">>> device = Device(); device.set_current()\n"
      ">>> image = device.create_opaque_array(\n"
      "...     {'shape': (8, 8), 'format': 'uint8', 'num_channels': 4, 'is_surface_load_store': True})\n"
      ">>> surface = device.create_surface_object(resource=ResourceDescriptor.from_opaque_array(image))\n"
      ">>> surface.handle != 0\n"
      "True\n");
  forbid_construction(bound, "SurfaceObject cannot be instantiated directly. Use Device.create_surface_object().");
  bound.def("close", &close_surface, "Ends the surface. Closing twice does nothing.")
      .def("__enter__", &enter_itself<PythonSurface>)
      .def(
          "__exit__", [](PythonSurface& self, nb::handle, nb::handle, nb::handle) { close_surface(self); },
          "exc_type"_a.none(), "exc"_a.none(), "tb"_a.none())
      .def_prop_ro(
          "is_closed", [](const PythonSurface& self) { return self.surface.handle() == 0; },
          "Whether close() has ended it.")
      .def_prop_ro(
          "handle", [](const PythonSurface& self) { return self.surface.handle(); },
          "The CUsurfObject, as an int; 0 when the surface is closed.")
      .def_prop_ro(
          "resource", [](const PythonSurface& self) { return self.resource; },
          "The ResourceDescriptor; None when the surface is closed.")
      .def_prop_ro(
          "device", [](const PythonSurface& self) { return device_object(self.device); },
          "The device that kernels use it on.")
      .def("__repr__", [](const PythonSurface& self) {
        return "SurfaceObject(handle=" + hexadecimal(self.surface.handle()) + ")";
      });
}

}  // namespace cuprum::python
