// Objects of OpenGL: see <cuprum/graphics_resource.hpp>.
#include "bindings/common.hpp"
#include "bindings/memory_resource.hpp"
#include "bindings/texture.hpp"

namespace cuprum::python {

/// A graphics resource with the Buffer that map() returned, which is closed as the object that its user has, and the
/// stream on which `with` maps it.
struct PythonGraphicsResource {
  GraphicsResource resource;
  nb::object buffer = nb::none();
  nb::object stream = nb::none();
};

}  // namespace cuprum::python

// Unmapping may wait.
template <>
void nanobind::detail::wrap_destruct<cuprum::python::PythonGraphicsResource>(void* object) noexcept {
  auto* self = static_cast<cuprum::python::PythonGraphicsResource*>(object);
  cuprum::GraphicsResource resource = std::move(self->resource);
  self->~PythonGraphicsResource();
  cuprum::python::GilRelease released;
  resource = {};
}
template <>
void nanobind::detail::wrap_destruct<cuprum::MappedImage>(void* object) noexcept {
  cuprum::python::destroy_without_gil<cuprum::MappedImage>(object);
}

namespace cuprum::python {
namespace {

/// What cuda.core raises in these states.
void require_open(const PythonGraphicsResource& self) {
  if (!self.resource.handle()) throw WrongState("GraphicsResource has been closed");
}
void require_unmapped(const PythonGraphicsResource& self) {
  require_open(self);
  if (self.resource.is_mapped()) throw WrongState("GraphicsResource is already mapped: unmap() it first");
}

GraphicsResourceOptions options_of(nb::handle flags) {
  const auto given = nb::cast<unsigned>(nb::module_::import_("cuprum._graphics").attr("_parse_register_flags")(flags));
  return {.read_only = (given & 1) != 0,
          .write_discard = (given & 2) != 0,
          .surface_load_store = (given & 4) != 0,
          .texture_gather = (given & 8) != 0};
}

PythonGraphicsResource from_gl_buffer(nb::handle gl_buffer, nb::handle flags, nb::handle stream) {
  const auto name = value_from<unsigned>(gl_buffer, "gl_buffer");
  const GraphicsResourceOptions options = options_of(flags);
  if (!stream.is_none()) own_stream_from(stream);  // what is none is refused here, not by `with`
  return {.resource = without_gil([&] { return GraphicsResource::from_gl_buffer(name, options); }),
          .stream = nb::borrow(stream)};
}

PythonGraphicsResource from_gl_image(nb::handle image, nb::handle target, nb::handle flags) {
  const auto name = value_from<unsigned>(image, "image");
  const auto made_for = value_from<unsigned>(target, "target");
  const GraphicsResourceOptions options = options_of(flags);
  return {.resource = without_gil([&] { return GraphicsResource::from_gl_image(name, made_for, options); })};
}

nb::object map(PythonGraphicsResource& self, nb::handle stream) {
  require_unmapped(self);
  const Stream queue = own_stream_from(stream);
  self.buffer = nb::cast(without_gil([&] { return self.resource.map(queue); }));
  return self.buffer;
}

MappedImage map_image(PythonGraphicsResource& self, nb::handle stream) {
  require_unmapped(self);
  const Stream queue = own_stream_from(stream);
  return without_gil([&] { return self.resource.map_image(queue); });
}

void unmap(PythonGraphicsResource& self, nb::handle stream) {
  require_open(self);
  if (!self.resource.is_mapped()) throw WrongState("GraphicsResource is not mapped: map() it first");
  if (stream.is_none()) {
    without_gil([&] { self.resource.unmap(); });
  } else {
    const Stream queue = own_stream_from(stream);
    without_gil([&] { self.resource.unmap(queue); });
  }
  self.buffer = nb::none();
}

void close(PythonGraphicsResource& self, nb::handle stream) {
  if (!self.resource.handle()) return;
  if (self.resource.is_mapped() && !self.buffer.is_none()) self.buffer.attr("close")("stream"_a = stream);
  self.buffer = nb::none();
  self.stream = nb::none();
  if (stream.is_none()) return without_gil([&] { self.resource.close(); });
  const Stream queue = own_stream_from(stream);
  without_gil([&] { self.resource.close(queue); });
}

nb::object enter(Self<PythonGraphicsResource> self) {
  if (self->stream.is_none()) return nb::borrow(self);
  return map(*self, self->stream);
}

std::uint64_t handle_of(const PythonGraphicsResource& self) {
  return reinterpret_cast<std::uint64_t>(self.resource.handle());
}

std::string representation(const PythonGraphicsResource& self) {
  return "<GraphicsResource handle=" + hexadecimal(handle_of(self)) + (self.resource.is_mapped() ? " mapped" : "") +
         (self.resource.handle() ? ">" : " closed>");
}

void close_image(MappedImage& self, nb::handle stream) {
  if (!self.handle()) return;
  if (stream.is_none()) return without_gil([&] { self.close(); });
  const Stream queue = own_stream_from(stream);
  without_gil([&] { self.close(queue); });
}

void bind_mapped_image(nb::module_& module) {
  nb::class_<MappedImage> bound(module, "MappedImage", nb::is_weak_referenceable(),
                                "An image of OpenGL that is mapped: its arrays, while it is CUDA's. Made by "
                                "GraphicsResource.map_image.");
  forbid_construction(bound,
                      "MappedImage objects cannot be instantiated directly. Please use GraphicsResource.map_image().");
  bound
      .def(
          "array",
          [](const MappedImage& self, unsigned index, unsigned level) {
            return reinterpret_cast<std::uint64_t>(without_gil([&] { return self.array(index, level); }));
          },
          "index"_a = 0, "level"_a = 0,
          "The CUarray of a mipmap level, and of a cube map or an array texture that of one face or layer, as an int. "
          "It belongs to the driver and is good while the image is mapped.")
      .def(
          "opaque_array",
          [](const MappedImage& self, unsigned index, unsigned level) {
            return python_array(without_gil([&] { return self.opaque_array(index, level); }));
          },
          "index"_a = 0, "level"_a = 0, "The same as an OpaqueArray, for textures, surfaces and copies.")
      .def_prop_ro(
          "mipmapped_array",
          [](const MappedImage& self) {
            return reinterpret_cast<std::uint64_t>(without_gil([&] { return self.mipmapped_array(); }));
          },
          "The CUmipmappedArray of all levels, faces and layers, as an int.")
      .def("close", &close_image, "stream"_a = nb::none(),
           "Unmaps the image after the work that is queued on `stream`; None is the stream it was mapped on.")
      .def("__enter__", &enter_itself<MappedImage>)
      .def("__exit__",
           [](MappedImage& self, nb::args) {
             close_image(self, nb::none());
             return false;
           })
      .def(Equality<MappedImage>())
      .def("__repr__",
           [](const MappedImage& self) { return std::string("<MappedImage") + (self.handle() ? ">" : " closed>"); });
}

void bind_resource(nb::module_& module) {
  nb::class_<PythonGraphicsResource> bound(
      module, "GraphicsResource", nb::is_weak_referenceable(),
      "A buffer or an image of OpenGL that kernels use in turn with OpenGL. The OpenGL context that has it must be "
      "current on the thread that registers, maps or unmaps it.\n\n"
      ">>> from cuprum import GraphicsResource\n"
      ">>> def clear(vertices, stream):  # vertices: the name of a buffer of OpenGL\n"
      "...     with GraphicsResource.from_gl_buffer(vertices, flags='write_discard') as resource:\n"
      "...         with resource.map(stream=stream) as buffer:\n"
      "...             buffer.fill(0, stream=stream)\n");
  forbid_construction(bound,
                      "GraphicsResource objects cannot be instantiated directly. Please use "
                      "GraphicsResource.from_gl_buffer() or GraphicsResource.from_gl_image().");
  bound
      .def_static(
          "from_gl_buffer", &from_gl_buffer, "gl_buffer"_a.none(), nb::kw_only(), "flags"_a = nb::none(),
          "stream"_a = nb::none(),
          "Registers a buffer by OpenGL's name. `flags` say what CUDA does with it, one or several of 'none', "
          "'read_only', 'write_discard', 'surface_load_store' and 'texture_gather'. With a `stream`, `with` maps "
          "the buffer on it and gives the Buffer; without, `with` gives the resource.")
      .def_static("from_gl_image", &from_gl_image, "image"_a.none(), "target"_a.none(), nb::kw_only(),
                  "flags"_a = nb::none(),
                  "Registers a texture or renderbuffer by OpenGL's name. `target` is what it was made for, such as "
                  "GL_TEXTURE_2D; `flags` as for buffers.")
      .def("map", &map, nb::lock_self(), nb::kw_only(), "stream"_a.none(),
           "Maps a buffer: OpenGL's work comes before what is then queued on `stream`. The Buffer is unmapped when it "
           "is "
           "closed, by unmap() or close(), and must not be used then.")
      .def("map_image", &map_image, nb::lock_self(), nb::kw_only(), "stream"_a.none(),
           "Maps an image in the same way, and gives its arrays as a MappedImage.")
      .def(
          "unmap", &unmap, nb::kw_only(), "stream"_a = nb::none(),
          "Hands the object back to OpenGL after the work that is queued on `stream`; None is the stream it was mapped "
          "on.")
      .def("close", &close, nb::lock_self(), "stream"_a = nb::none(),
           "Unmaps it, if it is mapped, and ends the registration.")
      .def("__enter__", &enter, nb::lock_self())
      .def(
          "__exit__",
          [](PythonGraphicsResource& self, nb::args) {
            close(self, nb::none());
            return false;
          },
          nb::lock_self())
      .def_prop_ro(
          "is_mapped", [](const PythonGraphicsResource& self) { return self.resource.is_mapped(); },
          "Whether it is CUDA's now.")
      .def_prop_ro("handle", &handle_of, "The CUgraphicsResource, as an int; 0 when it is closed.")
      .def_prop_ro("resource_handle", &handle_of, "The same as handle.")
      .def("__repr__", &representation);
}

}  // namespace

void bind_graphics_resource(nb::module_& module) {
  bind_mapped_image(module);
  bind_resource(module);
}

}  // namespace cuprum::python
