// What the binding files share: how errors, devices, streams, options and raw handles cross between C++ and Python.
//
// Each file binds one concept in a function bind_…(module) that module.cpp calls. Objects of the library are held by
// value: its handles are cheap to copy. What can wait or calls the driver runs without the GIL; arguments are converted
// before it is given up.
// A guard by name, because this is a precompiled header: where a compiler cache brings it, its time is not that of the
// file, and `#pragma once` takes the two for different ones.
#ifndef CUPRUM_PYTHON_BINDINGS_COMMON_HPP
#define CUPRUM_PYTHON_BINDINGS_COMMON_HPP

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cuprum/cuprum.hpp>
#include <sstream>
#include <string>
#include <utility>

#include "bindings/python_entry.hpp"

namespace cuprum::python {

namespace nb = nanobind;
using namespace nb::literals;

void bind_buffer(nb::module_& module);
void bind_checkpoint(nb::module_& module);
void bind_context(nb::module_& module);
void bind_device(nb::module_& module);
void bind_device_properties(nb::module_& module);
void bind_device_resources(nb::module_& module);
void bind_driver(nb::module_& module);
void bind_errors(nb::module_& module);
void bind_event(nb::module_& module);
void bind_graph_memory_resource(nb::module_& module);
void bind_graphics_resource(nb::module_& module);
void bind_host(nb::module_& module);
void bind_ipc(nb::module_& module);
void bind_kernel(nb::module_& module);
void bind_launch(nb::module_& module);
void bind_launch_config(nb::module_& module);
void bind_legacy_pinned_memory_resource(nb::module_& module);
void bind_linker(nb::module_& module);
void bind_managed_memory(nb::module_& module);
void bind_memory_batches(nb::module_& module);
void bind_memory_pools(nb::module_& module);
void bind_memory_resource(nb::module_& module);
void bind_mipmapped_array(nb::module_& module);
void bind_object_code(nb::module_& module);
void bind_observe(nb::module_& module);
void bind_opaque_array(nb::module_& module);
void bind_program(nb::module_& module);
void bind_program_cache(nb::module_& module);
void bind_program_options(nb::module_& module);
void bind_resource_descriptor(nb::module_& module);
void bind_stream(nb::module_& module);
void bind_strided_layout(nb::module_& module);
void bind_strided_memory_view(nb::module_& module);
void bind_surface_object(nb::module_& module);
void bind_system(nb::module_& module);
void bind_tensor_map(nb::module_& module);
void bind_texture_object(nb::module_& module);
void bind_virtual_memory_resource(nb::module_& module);

/// For functions whose arguments need no Python.
using WithoutGil = nb::call_guard<GilRelease>;

/// Runs a function without the GIL, and returns what it does.
template <typename Function>
decltype(auto) without_gil(Function&& function) {
  GilRelease released;
  return std::forward<Function>(function)();
}

/// What is in an object that is of the class, and not of one that derives from it; null for others. For what is called
/// often: nb::isinstance looks the class up each time.
template <typename Class>
Class* exactly(nb::handle object) {
  static PyTypeObject* const type = reinterpret_cast<PyTypeObject*>(nb::type<Class>().ptr());
  return Py_TYPE(object.ptr()) == type ? nb::inst_ptr<Class>(object) : nullptr;
}

/// The object that a method is called on, for methods that need Python's object and not only what is in it. nanobind
/// checks it like a `const Class&`; a bare nb::handle it doesn't, and anything can be given as `self`:
/// `Class.method(5)`.
template <typename Class>
class Self {
 public:
  Self(nb::handle object, Class* value) : object_(object), value_(value) {}
  Class& operator*() const { return *value_; }
  Class* operator->() const { return value_; }
  nb::handle object() const { return object_; }
  operator nb::handle() const { return object_; }

 private:
  nb::handle object_;
  Class* value_;
};

/// Notes for the message that a method was called on an object of another class than this.
void note_wrong_self(nb::handle wanted) noexcept;

/// `__enter__` of objects that are what `with` gives.
template <typename Class>
nb::object enter_itself(Self<Class> self) {
  return nb::borrow(self);
}

/// Sets Python's error for the exception that is being handled. For functions that nanobind does not wrap.
void set_python_error() noexcept;

/// Throws the exception that is being handled as Python's, which is one of NVIDIA's bindings of "nvvm" or "nvjitlink",
/// too, where those are loaded.
[[noreturn]] void rethrow_as_error_of(const char* library);

/// Throws an exception of cuprum._errors.
[[noreturn]] void throw_error(const char* name, const char* message);

/// A class that functions make and nobody else: calling it raises RuntimeError with this text.
template <typename Class>
void forbid_construction(nb::class_<Class>& bound, const char* message) {
  bound.def("__init__", [message](nb::handle, nb::args, nb::kwargs) {
    PyErr_SetString(PyExc_RuntimeError, message);
    throw nb::python_error();
  });
}

/// For classes with nb::new_: lets object.__new__(Class) raise TypeError, which otherwise makes an object without what
/// nanobind needs to end it. nanobind makes its own without this slot.
extern PyType_Slot no_plain_allocation[];

/// Extents as LaunchConfig has them in Python: (x, y, z).
nb::tuple tuple_of(const Dim3& extents);

/// The type of an object, for messages: "<class 'int'>".
std::string type_of(nb::handle object);

/// Keeps a Python object for as long as C++ has a copy of this. The last one may go on any thread.
std::shared_ptr<void> kept_object(nb::handle object);
/// What kept_object() was given; None for what is kept by others.
nb::object object_kept(const std::shared_ptr<void>& kept);
/// The same, if besides `kept` one other is all that keeps it; else null.
PyObject* object_kept_once(const std::shared_ptr<void>& kept);

/// Throws TypeError for a value of another type, or ValueError for an int that does not fit.
[[noreturn]] void refuse_value(nb::handle value, const char* what, bool is_number_expected);
/// A number, a bool or a str that a caller gave as `what`, or that an object of the caller says by that name.
template <typename T>
T value_from(nb::handle object, const char* what) {
  T value{};
  if (!nb::try_cast<T>(object, value)) refuse_value(object, what, std::is_integral_v<T> && !std::is_same_v<T, bool>);
  return value;
}

/// The items of what a caller gave as `what`. Throws TypeError for what has none; `expected` says what it should be.
nb::iterator items_of(nb::handle object, const char* what, const char* expected);

/// `value` as "0x7f…".
std::string hexadecimal(std::uint64_t value);

/// A raw CUDA handle for Python: `cuda.bindings.driver.CUstream` and the like where that package is installed, else an
/// int.
nb::object raw_handle(const char* type, std::uint64_t value);
template <typename Handle>
nb::object raw_handle(const char* type, Handle* value) {
  return raw_handle(type, reinterpret_cast<std::uint64_t>(value));
}
/// The other direction: anything with __int__.
std::uint64_t raw_value(nb::handle object, const char* what);
/// Throws OverflowError for an int that has no place in 64 bits without a sign, in the place of Python's own.
[[noreturn]] void refuse_number(const char* what, nb::handle number);

/// The Python object of a device, of which each thread has one.
nb::object device_object(const Device& device);
/// A Device, or a device's number, which a caller gave as `what`.
Device device_from(nb::handle object, const char* what = "device_id");

/// What a caller gave as `stream`: a Stream, a GraphBuilder, or an object with __cuda_stream__. TypeError for what
/// else.
Stream stream_from(nb::handle object);
/// The same without the objects of others, for functions that cuda.core gives streams of its own only.
Stream own_stream_from(nb::handle object);

/// Throws RuntimeError for a default stream where no context is current, because it is a stream of that: for streams on
/// which memory is to be given back.
void require_context(const Stream& stream);

/// Options as an object of the class in cuprum._options, of what a caller gave: that, a dict or None.
nb::object options_object(const char* options_class, nb::handle given, const char* what);

/// Throws TypeError that names a field of options and what it has, and what is expected if that is given.
[[noreturn]] void refuse_field(nb::handle options, const char* name, const char* expected = nullptr);

/// A field of such an object. Throws TypeError for one of another type.
template <typename T>
T field(nb::handle options, const char* name) {
  T value{};
  if (!nb::try_cast<T>(options.attr(name), value)) refuse_field(options, name);
  return value;
}
/// A field that is true or false; None is false.
bool flag(nb::handle options, const char* name);

/// Of a StreamOptions, a dict or None.
StreamOptions stream_options_from(nb::handle given);

/// The member of an enumeration in cuprum.typing that has this value.
nb::object member_of(const char* enumeration, const std::string& value);

/// `self == other` for classes whose objects equal only those of the same class.
template <typename Class>
nb::object equal(const Class& self, nb::handle other) {
  if (!nb::isinstance<Class>(other)) return nb::borrow(Py_NotImplemented);
  return nb::bool_(self == nb::cast<const Class&>(other));
}

/// hash() of a handle, as Python wants it: never -1.
template <typename Class>
Py_hash_t hash_of(const Class& self) {
  const auto hash = static_cast<Py_hash_t>(std::hash<Class>{}(self));
  return hash == -1 ? -2 : hash;
}

/// Both for a class, of whose objects none equals None: `bound.def(Equality<Class>())`.
template <typename Class>
struct Equality : nb::def_visitor<Equality<Class>> {
  template <typename Bound, typename... Extra>
  void execute(Bound& bound, const Extra&...) {
    bound.def("__eq__", &equal<Class>, nb::arg().none()).def("__hash__", &hash_of<Class>);
  }
};

}  // namespace cuprum::python

template <typename Class>
struct nanobind::detail::type_caster<cuprum::python::Self<Class>> {
  static constexpr auto Name = make_caster<Class>::Name;
  template <typename T>
  using Cast = cuprum::python::Self<Class>;

  template <typename T>
  bool can_cast() const noexcept {
    return true;
  }
  bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    object_ = source;
    const bool fits = caster_.from_python(source, flags_for_local_caster<Class&>(flags), cleanup) &&
                      caster_.template can_cast<Class&>();
    if (!fits) cuprum::python::note_wrong_self(nanobind::type<Class>());
    return fits;
  }
  operator cuprum::python::Self<Class>() { return {object_, &caster_.operator Class&()}; }

 private:
  make_caster<Class> caster_;
  handle object_;
};

#endif
