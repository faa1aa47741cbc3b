// What crosses between C++ and Python in many functions.
#include <cstdio>

#include "bindings/common.hpp"
#include "bindings/python_entry.hpp"

namespace cuprum::python {
namespace {

/// cuda.bindings.driver, or None where it is not installed. Asked for once, because it takes long to import.
nb::handle cuda_bindings_driver() {
  static constinit MadeOnce driver;
  return driver.get([] {
    PyObject* module = PyImport_ImportModule("cuda.bindings.driver");
    if (!module) {
      PyErr_Clear();
      module = Py_NewRef(Py_None);
    }
    return nb::steal(module);
  });
}

/// Drops a reference from any thread; not when Python ends.
struct LetGo {
  void operator()(void* kept) const {
    const PythonEntry python;
    if (!python) return;
    nb::error_scope error_of_the_caller;
    Py_DECREF(static_cast<PyObject*>(kept));
  }
};

}  // namespace

namespace {

PyObject* refuse_plain_allocation(PyTypeObject* type, Py_ssize_t) noexcept {
  const nb::object name = nb::getattr(nb::handle(reinterpret_cast<PyObject*>(type)), "__name__", nb::none());
  PyErr_Format(PyExc_TypeError, "object.__new__(%S) is not safe, use %S()", name.ptr(), name.ptr());
  return nullptr;
}

}  // namespace

PyType_Slot no_plain_allocation[] = {{Py_tp_alloc, reinterpret_cast<void*>(&refuse_plain_allocation)}, {0, nullptr}};

std::string type_of(nb::handle object) {
  if (PyType_Check(object.ptr()))
    return "the class " + nb::cast<std::string>(nb::str(nb::object(object.attr("__name__")))) + " itself";
  return nb::cast<std::string>(nb::repr(nb::handle(object.type())));
}

std::shared_ptr<void> kept_object(nb::handle object) {
  return {static_cast<void*>(nb::borrow(object).release().ptr()), LetGo{}};
}

nb::object object_kept(const std::shared_ptr<void>& kept) {
  if (!kept || !std::get_deleter<LetGo>(kept)) return nb::none();
  return nb::borrow(static_cast<PyObject*>(kept.get()));
}

PyObject* object_kept_once(const std::shared_ptr<void>& kept) {
  if (!kept || !std::get_deleter<LetGo>(kept) || kept.use_count() != 2) return nullptr;
  return static_cast<PyObject*>(kept.get());
}

void refuse_value(nb::handle value, const char* what, bool is_number_expected) {
  const std::string given = nb::cast<std::string>(nb::repr(value));
  if (is_number_expected && PyLong_Check(value.ptr()))
    throw nb::value_error((std::string(what) + " can't be " + given + ", which is out of range").c_str());
  throw nb::type_error(
      (std::string(what) + (is_number_expected ? " must be an int, not " : " can't be ") + given).c_str());
}

nb::iterator items_of(nb::handle object, const char* what, const char* expected) {
  if (!nb::hasattr(object, "__iter__") && !PySequence_Check(object.ptr()))
    throw nb::type_error((std::string(what) + " must be " + expected + ", not " + type_of(object)).c_str());
  return nb::iter(object);
}

std::string hexadecimal(std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "%#llx", static_cast<unsigned long long>(value));
  return value == 0 ? "0x0" : text;
}

nb::object raw_handle(const char* type, std::uint64_t value) {
  const nb::handle driver = cuda_bindings_driver();
  if (driver.is_none()) return nb::int_(value);
  return driver.attr(type)(value);
}

std::uint64_t raw_value(nb::handle object, const char* what) {
  // int() would also take these, and make something of them.
  const bool is_number = !PyFloat_Check(object.ptr()) && !PyUnicode_Check(object.ptr()) &&
                         !PyBytes_Check(object.ptr()) && !PyByteArray_Check(object.ptr()) &&
                         nb::hasattr(object, "__int__");
  nb::object number;
  if (is_number) number = nb::steal(PyNumber_Long(object.ptr()));
  if (!number.is_valid()) {
    PyErr_Clear();
    throw nb::type_error(
        (std::string(what) + " must be an int or a handle of cuda.bindings, not " + type_of(object)).c_str());
  }
  const unsigned long long value = PyLong_AsUnsignedLongLong(number.ptr());
  if (value == static_cast<unsigned long long>(-1) && PyErr_Occurred()) refuse_number(what, number);
  return value;
}

void refuse_number(const char* what, nb::handle number) {
  PyErr_Clear();
  const bool is_negative = number < nb::int_(0);
  PyErr_Format(PyExc_OverflowError, "%s can't be %s: %R", what, is_negative ? "negative" : "larger than 64 bits",
               number.ptr());
  throw nb::python_error();
}

nb::object options_object(const char* options_class, nb::handle given, const char* what) {
  nb::module_ options = nb::module_::import_("cuprum._options");
  return options.attr("check_options")(options.attr(options_class), given, what);
}

nb::object member_of(const char* enumeration, const std::string& value) {
  return nb::module_::import_("cuprum.typing").attr(enumeration)(value);
}

void refuse_field(nb::handle options, const char* name, const char* expected) {
  const std::string field = nb::cast<std::string>(options.type().attr("__name__")) + "." + name;
  const std::string given = nb::cast<std::string>(nb::repr(nb::object(options.attr(name))));
  const std::string problem =
      expected ? std::string(" must be ") + expected + ", or None, not " + given : " can't be " + given;
  throw nb::type_error((field + problem).c_str());
}

bool flag(nb::handle options, const char* name) {
  const int truth = PyObject_IsTrue(nb::object(options.attr(name)).ptr());
  if (truth < 0) throw nb::python_error();
  return truth != 0;
}

}  // namespace cuprum::python
