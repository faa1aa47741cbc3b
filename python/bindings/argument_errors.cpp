// What nanobind says of arguments that fit no signature of a function, in the words that Python has for its own.
//
// nanobind has no place to put in a message of one's own, and a layer around each function would cost every call that
// succeeds. So the linker sends this extension's calls of PyErr_SetString here (--wrap, in CMakeLists.txt).
#include <cstring>
#include <utility>

#include "bindings/common.hpp"

namespace cuprum::python {
namespace {

/// Which class a method wanted that was just called on something else: nanobind's message does not say.
thread_local PyObject* wanted_self = nullptr;

}  // namespace

void note_wrong_self(nb::handle wanted) noexcept { wanted_self = wanted.ptr(); }

}  // namespace cuprum::python

// The linker asks for these names.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {

void __real_PyErr_SetString(PyObject* type, const char* message);
void __wrap_PyErr_SetString(PyObject* type, const char* message);

void __wrap_PyErr_SetString(PyObject* type, const char* message) {
  __real_PyErr_SetString(type, message);
  if (type != PyExc_TypeError || !std::strstr(message, "(): incompatible function arguments.")) return;
  PyErr_Clear();  // Python code can't run while an error is set
  PyObject* const wanted = std::exchange(cuprum::python::wanted_self, nullptr);
  PyObject* const module = PyImport_ImportModule("cuprum._arguments");
  PyObject* const better =
      module ? PyObject_CallMethod(module, "error", "sO", message, wanted ? wanted : Py_None) : nullptr;
  Py_XDECREF(module);
  if (better) {
    PyErr_SetObject(type, better);
    Py_DECREF(better);
  } else {
    __real_PyErr_SetString(type, message);
  }
}
}
// NOLINTEND(bugprone-reserved-identifier)
