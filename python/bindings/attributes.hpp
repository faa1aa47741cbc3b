// Attributes that an object of somebody else may have or not.
#pragma once

#include "bindings/common.hpp"

namespace cuprum::python {

/// The attribute, or None where the object says that it has none, by an AttributeError. What else is raised on the way
/// comes out, as from Python's getattr: it says why an array or a stream can't be used now, which nanobind would drop.
inline nb::object attribute_or_none(nb::handle object, nb::handle name) {
  PyObject* value = PyObject_GetAttr(object.ptr(), name.ptr());
  if (value) return nb::steal(value);
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw nb::python_error();
  PyErr_Clear();
  return nb::none();
}

inline nb::object attribute_or_none(nb::handle object, const char* name) {
  return attribute_or_none(object, nb::str(name));
}

/// Whether the object has it, in the same way; a None there is as none.
template <typename Name>
bool has_attribute(nb::handle object, Name name) {
  return !attribute_or_none(object, name).is_none();
}

}  // namespace cuprum::python
