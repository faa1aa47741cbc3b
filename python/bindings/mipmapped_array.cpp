// Arrays of texels in several levels of detail: see <cuprum/texture/mipmapped_array.hpp>.
#include "bindings/memory_resource.hpp"
#include "bindings/texture.hpp"

template <>
void nanobind::detail::wrap_destruct<cuprum::python::PythonMipmappedArray>(void* object) noexcept {
  cuprum::python::destroy_without_gil<cuprum::python::PythonMipmappedArray>(object);
}

namespace cuprum::python {
namespace {

PythonArray get_level(const PythonMipmappedArray& self, nb::handle level) {
  const int wanted = value_from<int>(level, "level");
  if (wanted < 0) throw nb::value_error(("level must be >= 0, not " + std::to_string(wanted)).c_str());
  if (wanted >= self.facts.num_levels) {
    throw nb::value_error(
        ("level (" + std::to_string(wanted) + ") must be < num_levels (" + std::to_string(self.facts.num_levels) + ")")
            .c_str());
  }
  return python_array(without_gil([&] { return self.array.get_level(wanted); }));
}

nb::tuple level_zero_shape(const PythonMipmappedArray& self) {
  nb::list extents;
  for (const std::size_t extent : self.facts.shape) extents.append(extent);
  return nb::tuple(extents);
}

std::string mipmapped_in_words(const PythonMipmappedArray& self) {
  return "MipmappedArray(shape=" + nb::cast<std::string>(nb::repr(level_zero_shape(self))) +
         ", format=" + array_format_name(self.facts.format) +
         ", num_channels=" + std::to_string(self.facts.num_channels) +
         ", num_levels=" + std::to_string(self.facts.num_levels) + ")";
}

}  // namespace

PythonMipmappedArray create_mipmapped_array(const Device& device, nb::handle options) {
  const nb::object given = of_texture_options("checked")("MipmappedArrayOptions", options, "mipmapped array options");
  texture::MipmappedArrayOptions wanted{.shape = field<std::vector<std::size_t>>(given, "shape"),
                                        .format = array_format_from(nb::object(given.attr("format"))),
                                        .num_channels = field<int>(given, "num_channels"),
                                        .num_levels = field<int>(given, "num_levels"),
                                        .is_surface_load_store = flag(given, "is_surface_load_store")};
  texture::MipmappedArray array = without_gil([&] { return device.create_mipmapped_array(wanted); });
  wanted.num_levels = array.num_levels();
  return {std::move(array), std::move(wanted), device};
}

void bind_mipmapped_array(nb::module_& module) {
  nb::class_<PythonMipmappedArray> bound(
      module, "MipmappedArray", nb::is_weak_referenceable(),
      "Texels in several levels of detail, each half as large as the one before.\n\n"
      ">>> from cuprum import Device\n"
      ">>> device = Device(); device.set_current()\n"
      ">>> image = device.create_mipmapped_array(\n"
      "...     {'shape': (8, 8), 'format': 'float32', 'num_channels': 1, 'num_levels': 4})\n"
      ">>> image.get_level(2).shape\n"
      "(2, 2)\n");
  forbid_construction(bound, "MipmappedArray cannot be instantiated directly. Use Device.create_mipmapped_array().");
  bound
      .def("get_level", &get_level, "level"_a.none(),
           "One level as an OpaqueArray, which keeps the memory of all of them.")
      .def(
          "close", [](PythonMipmappedArray& self) { self.array.close(); }, WithoutGil(),
          "Ends the array; levels and textures of it stay as they are. Closing twice does nothing.")
      .def("__enter__", &enter_itself<PythonMipmappedArray>)
      .def(
          "__exit__",
          [](PythonMipmappedArray& self, nb::handle, nb::handle, nb::handle) {
            without_gil([&] { self.array.close(); });
          },
          "exc_type"_a.none(), "exc"_a.none(), "tb"_a.none())
      .def_prop_ro(
          "is_closed", [](const PythonMipmappedArray& self) { return self.array.handle() == nullptr; },
          "Whether close() has ended it.")
      .def_prop_ro(
          "handle",
          [](const PythonMipmappedArray& self) { return reinterpret_cast<std::uintptr_t>(self.array.handle()); },
          "The CUmipmappedArray, as an int; 0 when the array is closed.")
      .def_prop_ro("shape", &level_zero_shape, "Of level 0, in texels.")
      .def_prop_ro(
          "format", [](const PythonMipmappedArray& self) { return array_format_object(self.facts.format); },
          "The ArrayFormatType of each channel.")
      .def_prop_ro(
          "num_channels", [](const PythonMipmappedArray& self) { return self.facts.num_channels; },
          "Of each texel: 1, 2 or 4.")
      .def_prop_ro(
          "num_levels", [](const PythonMipmappedArray& self) { return self.facts.num_levels; }, "Level 0 included.")
      .def_prop_ro(
          "is_surface_load_store", [](const PythonMipmappedArray& self) { return self.facts.is_surface_load_store; },
          "Whether a SurfaceObject can be made of its levels.")
      .def_prop_ro(
          "device", [](const PythonMipmappedArray& self) { return device_object(self.device); },
          "The device that it is on.")
      .def("__repr__", &mipmapped_in_words);
}

}  // namespace cuprum::python
