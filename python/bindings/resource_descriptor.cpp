// What textures and surfaces show: see <cuprum/texture/resource_descriptor.hpp>.
#include "bindings/memory_resource.hpp"
#include "bindings/texture.hpp"

template <>
void nanobind::detail::wrap_destruct<cuprum::python::PythonResource>(void* object) noexcept {
  auto* resource = static_cast<cuprum::python::PythonResource*>(object);
  std::optional<cuprum::texture::ResourceDescriptor> last(std::move(resource->descriptor));
  resource->~PythonResource();
  cuprum::python::GilRelease released;  // giving memory back may wait
  last.reset();
}

namespace cuprum::python {

using texture::ResourceDescriptor;

namespace {

[[noreturn]] void refuse_value(const std::string& problem) { throw nb::value_error(problem.c_str()); }

const Buffer& source_buffer(nb::handle object) {
  if (!nb::isinstance<Buffer>(object))
    throw nb::type_error(("buffer must be a Buffer, not " + type_of(object)).c_str());
  return *nb::inst_ptr<Buffer>(object);
}

struct Texels {
  texture::ArrayFormatType format;
  int num_channels;
  std::size_t bytes;
};

Texels texels_from(nb::handle format, nb::handle num_channels) {
  constexpr std::size_t bytes[] = {1, 2, 4, 1, 2, 4, 2, 4};
  const texture::ArrayFormatType type = array_format_from(of_texture_options("array_format")(format));
  const int channels = nb::cast<int>(of_texture_options("channels")(num_channels));
  return {type, channels, bytes[static_cast<std::size_t>(type)] * static_cast<std::size_t>(channels)};
}

PythonResource from_opaque_array(nb::handle array) {
  if (!nb::isinstance<PythonArray>(array))
    throw nb::type_error(("array must be an OpaqueArray, not " + type_of(array)).c_str());
  return {ResourceDescriptor::from_opaque_array(nb::inst_ptr<PythonArray>(array)->array), nb::borrow(array)};
}

PythonResource from_mipmapped_array(nb::handle array) {
  if (!nb::isinstance<PythonMipmappedArray>(array))
    throw nb::type_error(("mipmapped_array must be a MipmappedArray, not " + type_of(array)).c_str());
  return {ResourceDescriptor::from_mipmapped_array(nb::inst_ptr<PythonMipmappedArray>(array)->array),
          nb::borrow(array)};
}

std::size_t size_bytes_from(nb::handle number) {
  if (PyLong_Check(number.ptr()) && number < nb::int_(0))
    throw_error("BoundsError", ("size_bytes must be >= 0, not " + nb::cast<std::string>(nb::str(number))).c_str());
  return size_from(number, "size_bytes");
}

PythonResource from_linear(nb::handle buffer, nb::handle format, nb::handle num_channels, nb::handle size_bytes) {
  const Buffer& memory = source_buffer(buffer);
  const Texels texels = texels_from(format, num_channels);
  const std::size_t room = memory.size();
  const std::size_t size = size_bytes.is_none() ? room : size_bytes_from(size_bytes);
  const std::string said = "size_bytes (" + std::to_string(size) + ")";
  if (size > room) refuse_value(said + " exceeds buffer.size (" + std::to_string(room) + ")");
  const std::string element = std::to_string(texels.bytes) + " bytes";
  if (size < texels.bytes) refuse_value(said + " must be at least one element (" + element + ")");
  if (size % texels.bytes != 0) refuse_value(said + " must be a multiple of element size (" + element + ")");
  return {ResourceDescriptor::from_linear(
              memory, {.format = texels.format, .num_channels = texels.num_channels, .size_bytes = size}),
          nb::borrow(buffer)};
}

std::size_t extent_from(nb::handle number, const char* what) {
  const auto value = value_from<long long>(number, what);
  if (value < 1) refuse_value(std::string(what) + " must be >= 1, not " + std::to_string(value));
  return static_cast<std::size_t>(value);
}

PythonResource from_pitch2d(nb::handle buffer, nb::handle format, nb::handle num_channels, nb::handle width,
                            nb::handle height, nb::handle pitch_bytes) {
  const Buffer& memory = source_buffer(buffer);
  const Texels texels = texels_from(format, num_channels);
  const std::size_t columns = extent_from(width, "width"), rows = extent_from(height, "height");
  const std::size_t pitch = extent_from(pitch_bytes, "pitch_bytes");
  if (pitch / texels.bytes < columns) {
    refuse_value("pitch_bytes (" + std::to_string(pitch) + ") must be >= width * element_bytes (" +
                 std::to_string(columns) + " * " + std::to_string(texels.bytes) + ")");
  }
  const std::size_t room = memory.size();
  if (room / pitch < rows) {
    refuse_value("pitch_bytes * height (" + std::to_string(pitch) + " * " + std::to_string(rows) +
                 ") exceeds buffer.size (" + std::to_string(room) + ")");
  }
  return {ResourceDescriptor::from_pitch2d(memory, {.format = texels.format,
                                                    .num_channels = texels.num_channels,
                                                    .width = columns,
                                                    .height = rows,
                                                    .pitch_bytes = pitch}),
          nb::borrow(buffer)};
}

std::string kind_of(const PythonResource& self) {
  std::ostringstream text;
  text << self.descriptor.kind();
  return text.str();
}

nb::object format_of_resource(const PythonResource& self) {
  const auto format = self.descriptor.format();
  return format ? array_format_object(*format) : nb::none();
}

std::string resource_in_words(const PythonResource& self) {
  const ResourceDescriptor& resource = self.descriptor;
  std::string text = "ResourceDescriptor(kind='" + kind_of(self) + "'";
  if (resource.format()) {
    text += ", format=" + array_format_name(*resource.format()) +
            ", num_channels=" + std::to_string(*resource.num_channels());
  }
  if (resource.size_bytes()) text += ", size_bytes=" + std::to_string(*resource.size_bytes());
  if (resource.width()) {
    text += ", width=" + std::to_string(*resource.width()) + ", height=" + std::to_string(*resource.height()) +
            ", pitch_bytes=" + std::to_string(*resource.pitch_bytes());
  }
  return text + ")";
}

int traverse_resource(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  Py_VISIT(nb::inst_ptr<PythonResource>(self)->source.ptr());
  return 0;
}

int clear_resource(PyObject* self) {
  nb::inst_ptr<PythonResource>(self)->source.reset();
  return 0;
}

PyType_Slot resource_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_resource)},
                                {Py_tp_clear, reinterpret_cast<void*>(&clear_resource)},
                                {0, nullptr}};

}  // namespace

const ResourceDescriptor& resource_from(nb::handle object) {
  if (!nb::isinstance<PythonResource>(object))
    throw nb::type_error(("resource must be a ResourceDescriptor, not " + type_of(object)).c_str());
  return nb::inst_ptr<PythonResource>(object)->descriptor;
}

void bind_resource_descriptor(nb::module_& module) {
  nb::class_<PythonResource> bound(
      module, "ResourceDescriptor", nb::is_weak_referenceable(), nb::type_slots(resource_slots),
      "What a texture or surface shows: an array, or a buffer and what its bytes are. It keeps that.\n\n"
      ">>> from cuprum import Device\n"
      ">>> from cuprum.texture import ResourceDescriptor\n"
      ">>> device = Device(); device.set_current()\n"
      ">>> buffer = device.allocate(4096)\n"
      ">>> ResourceDescriptor.from_linear(buffer, format='float32', num_channels=1)\n"
      "ResourceDescriptor(kind='linear', format=FLOAT32, num_channels=1, size_bytes=4096)\n");
  forbid_construction(bound,
                      "ResourceDescriptor cannot be instantiated directly. Use ResourceDescriptor.from_* factories.");
  bound
      .def_static("from_opaque_array", &from_opaque_array, "array"_a.none(),
                  "For textures, and for surfaces if the array is_surface_load_store.")
      .def_static("from_mipmapped_array", &from_mipmapped_array, "mipmapped_array"_a.none(),
                  "For textures; a surface is made of a single level.")
      .def_static("from_linear", &from_linear, "buffer"_a.none(), nb::kw_only(), "format"_a.none(),
                  "num_channels"_a.none(), "size_bytes"_a = nb::none(),
                  "The beginning of a Buffer as a line of texels, which kernels fetch by their number.")
      .def_static("from_pitch2d", &from_pitch2d, "buffer"_a.none(), nb::kw_only(), "format"_a.none(),
                  "num_channels"_a.none(), "width"_a.none(), "height"_a.none(), "pitch_bytes"_a.none(),
                  "A Buffer as rows of texels. The pitch is a multiple of "
                  "Device.properties.texture_pitch_alignment.")
      .def_prop_ro("kind", &kind_of, "'array', 'mipmapped_array', 'linear' or 'pitch2d'.")
      .def_prop_ro(
          "source", [](const PythonResource& self) { return self.source; }, "The array or Buffer.")
      .def_prop_ro("format", &format_of_resource,
                   "Of the texels in a Buffer; None for arrays, which say it themselves.")
      .def_prop_ro(
          "num_channels", [](const PythonResource& self) { return self.descriptor.num_channels(); },
          "Of the texels in a Buffer; None for arrays.")
      .def_prop_ro(
          "size_bytes", [](const PythonResource& self) { return self.descriptor.size_bytes(); },
          "Of a line of texels; else None.")
      .def_prop_ro(
          "_size_bytes", [](const PythonResource& self) { return self.descriptor.size_bytes(); },
          "size_bytes, as programs for cuda.core also ask for it.")
      .def_prop_ro(
          "width", [](const PythonResource& self) { return self.descriptor.width(); }, "Of rows of texels; else None.")
      .def_prop_ro(
          "height", [](const PythonResource& self) { return self.descriptor.height(); },
          "The number of rows of texels; else None.")
      .def_prop_ro(
          "pitch_bytes", [](const PythonResource& self) { return self.descriptor.pitch_bytes(); },
          "From one row of texels to the next; else None.")
      .def("__repr__", &resource_in_words);
}

}  // namespace cuprum::python
