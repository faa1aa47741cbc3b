// Memory resources between C++ and Python. One that is written in Python is an object whose class derives from
// cuprum.MemoryResource; C++ reaches it through an interface that calls its methods. One of the library has one Python
// object at a time, found by its implementation.
#pragma once

#include "bindings/common.hpp"

namespace cuprum::python {

/// The resource that a Python object is: one of the library's, or one written in Python. TypeError for what else.
MemoryResource memory_resource_from(nb::handle object, const char* what = "mr");

/// The Python object of a resource: the one that is there, else a new one of the class that fits.
nb::object memory_resource_object(const MemoryResource& resource);

/// Whether a Python class overrides parts of the resource, so that its methods have to be called through Python.
bool is_written_in_python(nb::handle resource);

/// The object of a resource that is written in Python; an invalid one for a resource of the library.
nb::object python_resource(const MemoryResource& resource);

/// What allocate() of a resource that is written in Python returned. Throws TypeError when it is no Buffer.
nb::object checked_buffer(nb::handle resource, nb::object returned);

/// The object of a resource that is written in Python, if besides `resource` one other handle is all that holds it.
PyObject* held_once(const MemoryResource& resource);

/// Makes memory_resource of a new Buffer object be that very object.
void note_resource(nb::handle buffer, nb::handle resource);
/// A new Python object of a buffer that `resource` made.
template <typename Class>
nb::object buffer_from_resource(Class buffer, nb::handle resource) {
  nb::object object = nb::cast(std::move(buffer));
  note_resource(object, resource);
  return object;
}

/// The resource that was noted for a Buffer object, or null; and no longer.
PyObject* noted_resource(nb::handle buffer);
void forget_noted_resource(nb::handle buffer);

/// The Python object of the resource that a buffer comes from, or None.
nb::object resource_of_buffer(nb::handle buffer);

/// Makes the object known as that of its resource, unless there is one.
void register_resource(nb::handle object);

/// The object that `make` makes for a resource, as long as somebody holds it.
nb::object object_beside_resource(const MemoryResource& resource, nb::object (*make)(const MemoryResource&));

/// Names the Python class of a kind of resource of the library.
void add_native_class(nb::handle type);

/// What was given as `stream` for an allocation: None is the default stream.
Stream stream_or_default(nb::handle stream);

/// A number of bytes, which messages call `what`. TypeError for what is no integer, OverflowError for what is no size.
std::size_t size_from(nb::handle number, const char* what = "size");

/// Ends an object of the library that Python held, without the GIL: that can wait for the device, and so for host
/// functions that need it.
template <typename Class>
void destroy_without_gil(void* object) noexcept {
  GilRelease released;
  static_cast<Class*>(object)->~Class();
}

/// deallocate of resources that can take memory back without a stream.
template <typename Class, typename Bound>
void bind_deallocate_at_once(Bound& bound) {
  bound.def(
      "deallocate",
      [](const Class& self, nb::handle pointer, nb::handle size, nb::handle stream) {
        const std::uint64_t address = raw_value(pointer, "ptr");
        const std::size_t bytes = size_from(size);
        if (stream.is_none()) return without_gil([&] { self.deallocate(address, bytes); });
        const Stream queue = own_stream_from(stream);
        without_gil([&] { self.deallocate(address, bytes, queue); });
      },
      "ptr"_a.none(), "size"_a.none(), "stream"_a = nb::none(),
      "Takes memory back after the work that is queued on `stream`; at once without one.");
}

}  // namespace cuprum::python
