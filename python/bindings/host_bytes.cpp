#include "bindings/host_bytes.hpp"

#include "bindings/python_entry.hpp"

namespace cuprum::python {
namespace {

/// Ends an export. What is left of it when the interpreter is gone ends with the process.
struct Release {
  void operator()(Py_buffer* view) const {
    const PythonEntry python;
    if (!python) return;
    nb::error_scope error_of_the_caller;
    PyBuffer_Release(view);
    delete view;
  }
};

}  // namespace

HostBytes::HostBytes(nb::handle object, bool is_written) {
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(object.ptr(), view.get(), is_written ? PyBUF_SIMPLE | PyBUF_WRITABLE : PyBUF_SIMPLE) != 0)
    throw nb::python_error();
  view_ = std::shared_ptr<Py_buffer>(view.release(), Release{});
}

}  // namespace cuprum::python
