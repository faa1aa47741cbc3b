// Class methods, which nanobind does not know: what makes objects of the class that it is asked of, also where that
// derives from the one that is bound.
#pragma once

#include "bindings/common.hpp"

namespace cuprum::python {

/// An object of `cls`, which is the class of the value or derives from it. Its __init__ is not called, as NVIDIA's
/// does.
template <typename Value>
nb::object object_of_class(nb::handle cls, Value&& value) {
  using Class = std::remove_cvref_t<Value>;
  static const nb::handle base = nb::type<Class>();
  if (!PyType_Check(cls.ptr()) ||
      !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls.ptr()), reinterpret_cast<PyTypeObject*>(base.ptr()))) {
    throw nb::type_error(("this is a class method of " + nb::cast<std::string>(base.attr("__name__")) +
                          " and of what derives from it, not of " + nb::cast<std::string>(nb::repr(cls)))
                             .c_str());
  }
  nb::object made = nb::inst_alloc(cls);
  new (nb::inst_ptr<Class>(made)) Class(std::forward<Value>(value));
  nb::inst_mark_ready(made);
  return made;
}

/// Makes a class method of a static function, whose first parameter is the class.
inline void make_class_method(nb::handle bound, const char* name) {
  const nb::object function = bound.attr(name);
  bound.attr(name) = nb::steal(PyClassMethod_New(function.ptr()));
}

}  // namespace cuprum::python
