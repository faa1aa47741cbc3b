#include "bindings/cupy_array.hpp"

#include "bindings/dlpack_exchange.hpp"
#include "bindings/type_table.hpp"

namespace cuprum::python {
namespace {

/// CuPy's own class, and not one that derives from it: that may have other methods.
bool look_up_type(nb::handle type) {
  const nb::object modules = nb::module_::import_("sys").attr("modules");
  const nb::object cupy = modules.attr("get")("cupy");
  return !cupy.is_none() && nb::object(nb::getattr(cupy, "ndarray", nb::none())).is(type);
}

bool is_cupy_array(nb::handle object) {
  static constinit TypeTable<bool> known;
  PyTypeObject* const type = Py_TYPE(object.ptr());
  if (const bool* found = known.find(type)) return *found;
  const bool is_array = look_up_type(object.type());
  if (known.add(type, is_array)) Py_INCREF(reinterpret_cast<PyObject*>(type));
  return is_array;
}

/// An attribute whose name is made once; invalid where there is none.
nb::object attribute(nb::handle object, MadeOnce& name, const char* text) {
  const nb::handle made = name.get([&] { return nb::steal(PyUnicode_InternFromString(text)); });
  nb::object found = nb::steal(PyObject_GetAttr(object.ptr(), made.ptr()));
  if (!found.is_valid()) PyErr_Clear();
  return found;
}

std::optional<long long> number(nb::handle object) {
  if (!object.is_valid() || !PyLong_CheckExact(object.ptr())) return std::nullopt;
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  return overflow == 0 ? std::optional(value) : std::nullopt;
}

/// Whether it is one that DLPack has, too. NumPy has one object for each of these.
bool is_plain_dtype(nb::handle dtype) {
  static MadeOnce made;
  const nb::tuple plain = nb::borrow<nb::tuple>(made.get([] {
    nb::list dtypes;
    for (const char* name : {"float32", "float64", "float16", "int32", "int64", "uint8", "bool", "complex64",
                             "complex128", "int8", "int16", "uint16", "uint32", "uint64"})
      dtypes.append(nb::module_::import_("numpy").attr("dtype")(name));
    return nb::object(nb::tuple(dtypes));
  }));
  return std::any_of(plain.begin(), plain.end(), [&](nb::handle each) { return each.is(dtype); });
}

bool is_tuple(nb::handle object) { return object.is_valid() && PyTuple_CheckExact(object.ptr()); }

}  // namespace

bool fill_from_cupy_array(PythonView& view, nb::handle array, nb::handle stream) {
  static MadeOnce data_name, ptr_name, device_name, shape_name, strides_name, dtype_name;
  if (!is_cupy_array(array) || !is_unordered(stream)) return false;
  const nb::object data = attribute(array, data_name, "data");
  if (!data.is_valid()) return false;
  const std::optional<long long> ptr = number(attribute(data, ptr_name, "ptr"));
  const std::optional<long long> device = number(attribute(data, device_name, "device_id"));
  nb::object shape = attribute(array, shape_name, "shape");
  nb::object strides = attribute(array, strides_name, "strides");
  nb::object dtype = attribute(array, dtype_name, "dtype");
  if (!ptr || !device || !is_tuple(shape) || !is_tuple(strides) || !is_plain_dtype(dtype)) return false;
  view.shape = std::move(shape);
  view.strides = std::move(strides);
  view.dtype = std::move(dtype);
  view.base = view.ptr = static_cast<std::uint64_t>(*ptr);
  view.device_id = static_cast<int>(*device);
  view.is_device_accessible = true;
  view.exporting_obj = nb::borrow(array);
  return true;
}

}  // namespace cuprum::python
