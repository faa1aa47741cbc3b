// Textures: see <cuprum/texture/texture_object.hpp>.
#include "bindings/texture.hpp"

template <>
void nanobind::detail::wrap_destruct<cuprum::python::PythonTexture>(void* object) noexcept {
  auto* texture = static_cast<cuprum::python::PythonTexture*>(object);
  cuprum::texture::TextureObject last = std::move(texture->texture);
  texture->~PythonTexture();
  cuprum::python::GilRelease released;  // giving memory back may wait
  last = {};
}

namespace cuprum::python {

using texture::AddressModeType;
using texture::FilterModeType;

namespace {

/// The name of an option's mode, which may have been assigned after the options were made.
std::string mode_from(nb::handle options, const char* name, const char* enumeration) {
  const nb::object mode = of_texture_options("mode")(name, options.attr(name), of_texture_options(enumeration));
  return nb::cast<std::string>(nb::str(mode));
}

AddressModeType address_mode_from(nb::handle mode) {
  const std::string name = nb::cast<std::string>(nb::str(mode));
  if (name == "wrap") return AddressModeType::wrap;
  if (name == "mirror") return AddressModeType::mirror;
  return name == "border" ? AddressModeType::border : AddressModeType::clamp;
}

texture::AddressModes address_modes_from(nb::handle given) {
  const nb::object modes = of_texture_options("address_modes")(given);
  return {address_mode_from(modes[0]), address_mode_from(modes[1]), address_mode_from(modes[2])};
}

FilterModeType filter_mode_from(nb::handle options, const char* name) {
  return mode_from(options, name, "FilterModeType") == "linear" ? FilterModeType::linear : FilterModeType::point;
}

unsigned anisotropy_from(nb::handle options) {
  const auto value = field<long long>(options, "max_anisotropy");
  if (value < 0) throw nb::value_error(("max_anisotropy must be >= 0, not " + std::to_string(value)).c_str());
  return static_cast<unsigned>(std::min(value, 16LL));  // more than 16 is 16
}

texture::TextureObjectOptions sampling_from(nb::handle given) {
  const nb::object border = of_texture_options("border")(nb::object(given.attr("border_color")));
  texture::TextureObjectOptions options{
      .address_mode = address_modes_from(nb::object(given.attr("address_mode"))),
      .filter_mode = filter_mode_from(given, "filter_mode"),
      .read_mode = mode_from(given, "read_mode", "ReadModeType") == "normalized_float"
                       ? texture::ReadModeType::normalized_float
                       : texture::ReadModeType::element_type,
      .normalized_coords = flag(given, "normalized_coords"),
      .srgb = flag(given, "srgb"),
      .disable_trilinear_optimization = flag(given, "disable_trilinear_optimization"),
      .seamless_cubemap = flag(given, "seamless_cubemap"),
      .max_anisotropy = anisotropy_from(given),
      .mipmap_filter_mode = filter_mode_from(given, "mipmap_filter_mode"),
      .mipmap_level_bias = static_cast<float>(field<double>(given, "mipmap_level_bias")),
      .min_mipmap_level_clamp = static_cast<float>(field<double>(given, "min_mipmap_level_clamp")),
      .max_mipmap_level_clamp = static_cast<float>(field<double>(given, "max_mipmap_level_clamp"))};
  for (std::size_t channel = 0; channel < 4; ++channel)
    options.border_color[channel] = static_cast<float>(nb::cast<double>(nb::object(border[channel])));
  return options;
}

void close_texture(PythonTexture& self) {
  without_gil([&] { self.texture.close(); });
  self.resource = nb::none();
}

int traverse_texture(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  Py_VISIT(nb::inst_ptr<PythonTexture>(self)->resource.ptr());
  Py_VISIT(nb::inst_ptr<PythonTexture>(self)->options.ptr());
  return 0;
}

int clear_texture(PyObject* self) {
  nb::inst_ptr<PythonTexture>(self)->resource.reset();
  nb::inst_ptr<PythonTexture>(self)->options.reset();
  return 0;
}

PyType_Slot texture_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_texture)},
                               {Py_tp_clear, reinterpret_cast<void*>(&clear_texture)},
                               {0, nullptr}};

}  // namespace

PythonTexture create_texture_object(const Device& device, nb::handle resource, nb::handle options) {
  const texture::ResourceDescriptor& shown = resource_from(resource);
  const nb::object given = of_texture_options("checked")("TextureObjectOptions", options, "texture object options");
  const texture::TextureObjectOptions wanted = sampling_from(given);
  return {without_gil([&] { return device.create_texture_object(shown, wanted); }), device, nb::borrow(resource),
          given};
}

void bind_texture_object(nb::module_& module) {
  nb::class_<PythonTexture> bound(
      module, "TextureObject", nb::is_weak_referenceable(), nb::type_slots(texture_slots),
      "How kernels read an array or a buffer at coordinates, with filters. launch() passes it as the kernel's "
      "cudaTextureObject_t. It keeps what it shows; graphs keep it.\n\n"
      ">>> from cuprum import Device\n"
      ">>> from cuprum.texture import ResourceDescriptor\n"
      ">>> device = Device(); device.set_current()\n"
      ">>> image = device.create_opaque_array({'shape': (8, 8), 'format': 'float32', 'num_channels': 1})\n"
      ">>> texture = device.create_texture_object(resource=ResourceDescriptor.from_opaque_array(image))\n"
      ">>> texture.resource.source is image\n"
      "True\n");
  forbid_construction(bound, "TextureObject cannot be instantiated directly. Use Device.create_texture_object().");
  bound.def("close", &close_texture, "Ends the texture. Closing twice does nothing.")
      .def("__enter__", &enter_itself<PythonTexture>)
      .def(
          "__exit__", [](PythonTexture& self, nb::handle, nb::handle, nb::handle) { close_texture(self); },
          "exc_type"_a.none(), "exc"_a.none(), "tb"_a.none())
      .def_prop_ro(
          "is_closed", [](const PythonTexture& self) { return self.texture.handle() == 0; },
          "Whether close() has ended it.")
      .def_prop_ro(
          "handle", [](const PythonTexture& self) { return self.texture.handle(); },
          "The CUtexObject, as an int; 0 when the texture is closed.")
      .def_prop_ro(
          "resource", [](const PythonTexture& self) { return self.resource; },
          "The ResourceDescriptor; None when the texture is closed.")
      .def_prop_ro(
          "options", [](const PythonTexture& self) { return self.options; }, "The TextureObjectOptions.")
      .def_prop_ro(
          "device", [](const PythonTexture& self) { return device_object(self.device); },
          "The device that kernels use it on.")
      .def("__repr__", [](const PythonTexture& self) {
        return "TextureObject(handle=" + hexadecimal(self.texture.handle()) + ")";
      });
}

}  // namespace cuprum::python
