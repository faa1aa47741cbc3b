// Arrays of texels: see <cuprum/texture/opaque_array.hpp>.
#include "bindings/host_bytes.hpp"
#include "bindings/memory_resource.hpp"
#include "bindings/texture.hpp"

template <>
void nanobind::detail::wrap_destruct<cuprum::python::PythonArray>(void* object) noexcept {
  cuprum::python::destroy_without_gil<cuprum::python::PythonArray>(object);
}

namespace cuprum::python {

using texture::ArrayFormatType;

namespace {

constexpr ArrayFormatType formats[] = {ArrayFormatType::uint8,   ArrayFormatType::uint16, ArrayFormatType::uint32,
                                       ArrayFormatType::int8,    ArrayFormatType::int16,  ArrayFormatType::int32,
                                       ArrayFormatType::float16, ArrayFormatType::float32};

std::string lower_name(ArrayFormatType format) {
  std::ostringstream text;
  text << format;
  return text.str();
}

std::size_t texel_bytes(const texture::OpaqueArrayOptions& facts) {
  constexpr std::size_t bytes[] = {1, 2, 4, 1, 2, 4, 2, 4};
  return bytes[static_cast<std::size_t>(facts.format)] * static_cast<std::size_t>(facts.num_channels);
}

std::size_t array_bytes(const texture::OpaqueArrayOptions& facts) {
  std::size_t bytes = texel_bytes(facts);
  for (const std::size_t extent : facts.shape) bytes *= extent;
  return bytes;
}

nb::tuple shape_tuple(const std::vector<std::size_t>& shape) {
  nb::list extents;
  for (const std::size_t extent : shape) extents.append(extent);
  return nb::tuple(extents);
}

HostBytes host_side(nb::handle object, bool is_written) {
  const std::string expected = std::string(is_written ? "dst" : "src") +
                               " must be a Buffer, an OpaqueArray or a contiguous " + (is_written ? "writable " : "") +
                               "object with the buffer protocol, not ";
  if (!PyObject_CheckBuffer(object.ptr())) throw nb::type_error((expected + type_of(object)).c_str());
  try {
    return HostBytes(object, is_written);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_BufferError) && !error.matches(PyExc_ValueError)) throw;
    throw_error("HostMemoryError",
                (expected + type_of(object) + ": " + nb::cast<std::string>(nb::str(error.value()))).c_str());
  }
}

void check_room(const PythonArray& self, std::size_t bytes, const char* what) {
  const std::size_t needed = array_bytes(self.facts);
  if (bytes >= needed) return;
  throw nb::value_error((std::string(what) + " has " + std::to_string(bytes) +
                         " bytes, which is smaller than the array " + "extent (" + std::to_string(needed) + " bytes)")
                            .c_str());
}

void copy_from(const PythonArray& self, nb::handle source, nb::handle stream) {
  const Stream queue = own_stream_from(stream);
  if (nb::isinstance<Buffer>(source)) {
    const Buffer& buffer = *nb::inst_ptr<Buffer>(source);
    if (buffer.handle() != 0) check_room(self, buffer.size(), "src");
    return without_gil([&] { self.array.copy_from(buffer, queue); });
  }
  if (nb::isinstance<PythonArray>(source)) {
    const texture::OpaqueArray& other = nb::inst_ptr<PythonArray>(source)->array;
    return without_gil([&] { self.array.copy_from(other, queue); });
  }
  const HostBytes host = host_side(source, false);
  check_room(self, host.bytes().size(), "src");
  without_gil([&] {
    self.array.copy_from(std::span<const std::byte>(host.bytes()), queue);
    queue.keep(host.owner());
  });
}

nb::object copy_to(const PythonArray& self, nb::handle destination, nb::handle stream) {
  const Stream queue = own_stream_from(stream);
  if (nb::isinstance<Buffer>(destination)) {
    const Buffer& buffer = *nb::inst_ptr<Buffer>(destination);
    if (buffer.handle() != 0) check_room(self, buffer.size(), "dst");
    without_gil([&] { self.array.copy_to(buffer, queue); });
  } else if (nb::isinstance<PythonArray>(destination)) {
    const texture::OpaqueArray& other = nb::inst_ptr<PythonArray>(destination)->array;
    without_gil([&] { self.array.copy_to(other, queue); });
  } else {
    const HostBytes host = host_side(destination, true);
    check_room(self, host.bytes().size(), "dst");
    without_gil([&] {
      self.array.copy_to(host.bytes(), queue);
      queue.keep(host.owner());
    });
  }
  return nb::borrow(destination);
}

std::string array_in_words(const PythonArray& self) {
  return "OpaqueArray(shape=" + nb::cast<std::string>(nb::repr(shape_tuple(self.facts.shape))) +
         ", format=" + array_format_name(self.facts.format) +
         ", num_channels=" + std::to_string(self.facts.num_channels) + ")";
}

/// For graphics: an array that somebody else owns.
PythonArray array_from_handle(nb::handle handle, nb::handle owner) {
  auto* const array = reinterpret_cast<CUarray_st*>(raw_value(handle, "handle"));
  std::shared_ptr<const void> kept = owner.is_none() ? nullptr : kept_object(owner);
  return python_array(without_gil([&] { return texture::OpaqueArray::from_handle(array, std::move(kept)); }));
}

}  // namespace

ArrayFormatType array_format_from(nb::handle member) {
  const std::string name = nb::cast<std::string>(nb::str(member));
  for (const ArrayFormatType format : formats)
    if (lower_name(format) == name) return format;
  throw nb::value_error(("format must be an ArrayFormatType, not " + name).c_str());
}

nb::object array_format_object(ArrayFormatType format) { return member_of("ArrayFormatType", lower_name(format)); }

std::string array_format_name(ArrayFormatType format) {
  return nb::cast<std::string>(nb::object(array_format_object(format).attr("name")));
}

nb::object of_texture_options(const char* name) { return nb::module_::import_("cuprum._texture_options").attr(name); }

PythonArray python_array(texture::OpaqueArray array) {
  texture::OpaqueArrayOptions facts{.shape = array.shape(),
                                    .format = array.format(),
                                    .num_channels = array.num_channels(),
                                    .is_surface_load_store = array.is_surface_load_store()};
  const Device device = array.device();
  return {std::move(array), std::move(facts), device};
}

PythonArray create_opaque_array(const Device& device, nb::handle options) {
  const nb::object given = of_texture_options("checked")("OpaqueArrayOptions", options, "opaque array options");
  const texture::OpaqueArrayOptions wanted{.shape = field<std::vector<std::size_t>>(given, "shape"),
                                           .format = array_format_from(nb::object(given.attr("format"))),
                                           .num_channels = field<int>(given, "num_channels"),
                                           .is_surface_load_store = flag(given, "is_surface_load_store")};
  return python_array(without_gil([&] { return device.create_opaque_array(wanted); }));
}

void bind_opaque_array(nb::module_& module) {
  nb::class_<PythonArray> bound(
      module, "OpaqueArray", nb::is_weak_referenceable(),
      "Texels in an order of the driver's own, for textures and surfaces. Contents get there and back by copies.\n\n"
      ">>> import array\n"
      ">>> from cuprum import Device\n"
      ">>> device = Device(); device.set_current()\n"
      ">>> stream = device.create_stream()\n"
      ">>> image = device.create_opaque_array({'shape': (2, 2), 'format': 'uint8', 'num_channels': 1})\n"
      ">>> image.copy_from(bytes([1, 2, 3, 4]), stream=stream)\n"
      ">>> back = image.copy_to(bytearray(4), stream=stream)\n"
      ">>> stream.sync(); bytes(back)\n"
      "b'\\x01\\x02\\x03\\x04'\n");
  forbid_construction(bound, "OpaqueArray cannot be instantiated directly. Use Device.create_opaque_array().");
  bound
      .def_static("_from_handle", &array_from_handle, "handle"_a.none(), "owner"_a = nb::none(),
                  "Wraps a CUarray of the current context that `owner` keeps.")
      .def("copy_from", &copy_from, "src"_a.none(), nb::kw_only(), "stream"_a.none(),
           "Fills the array with the first size_bytes of `src`: a Buffer, an object with the buffer protocol, which is "
           "kept until the copy has run, or another array of the same shape.")
      .def("copy_to", &copy_to, "dst"_a.none(), nb::kw_only(), "stream"_a.none(),
           "Copies the array to the beginning of `dst`, which is returned: a Buffer, a writable object with the buffer "
           "protocol, or another array of the same shape.")
      .def(
          "close", [](PythonArray& self) { self.array.close(); }, WithoutGil(),
          "Ends the array; textures, surfaces and graphs that were given it keep the memory. Closing twice does "
          "nothing.")
      .def("__enter__", &enter_itself<PythonArray>)
      .def(
          "__exit__",
          [](PythonArray& self, nb::handle, nb::handle, nb::handle) { without_gil([&] { self.array.close(); }); },
          "exc_type"_a.none(), "exc"_a.none(), "tb"_a.none())
      .def_prop_ro(
          "is_closed", [](const PythonArray& self) { return self.array.handle() == nullptr; },
          "Whether close() has ended it.")
      .def_prop_ro(
          "handle", [](const PythonArray& self) { return reinterpret_cast<std::uintptr_t>(self.array.handle()); },
          "The CUarray, as an int; 0 when the array is closed.")
      .def_prop_ro(
          "shape", [](const PythonArray& self) { return shape_tuple(self.facts.shape); },
          "In texels: (width,), (width, height) or (width, height, depth).")
      .def_prop_ro(
          "format", [](const PythonArray& self) { return array_format_object(self.facts.format); },
          "The ArrayFormatType of each channel.")
      .def_prop_ro(
          "num_channels", [](const PythonArray& self) { return self.facts.num_channels; }, "Of each texel: 1, 2 or 4.")
      .def_prop_ro(
          "element_bytes", [](const PythonArray& self) { return texel_bytes(self.facts); }, "Bytes of a texel.")
      .def_prop_ro(
          "size_bytes", [](const PythonArray& self) { return array_bytes(self.facts); }, "Bytes of all texels.")
      .def_prop_ro(
          "is_surface_load_store", [](const PythonArray& self) { return self.facts.is_surface_load_store; },
          "Whether a SurfaceObject can be made of it.")
      .def_prop_ro(
          "device", [](const PythonArray& self) { return device_object(self.device); }, "The device that it is on.")
      .def("__repr__", &array_in_words);
}

}  // namespace cuprum::python
