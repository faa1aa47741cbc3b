// The library's exceptions as Python's. The classes are in cuprum/_errors.py, because they derive from several of
// Python's own; what they are made of is filled in here.
#include <new>
#include <typeinfo>

#include "bindings/common.hpp"

namespace cuprum::python {
namespace {

/// Text that names what users gave, such as a file or a line of a source: whatever bytes that has.
nb::object as_text(std::string_view text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
}

nb::object as_attribute(const std::string& text) { return as_text(text); }
nb::object as_attribute(const std::vector<std::string>& texts) {
  nb::list all;
  for (const std::string& text : texts) all.append(as_text(text));
  return all;
}
template <typename T>
nb::object as_attribute(const T& value) {
  return nb::cast(value);
}

void set_error(nb::handle error) { PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr()); }

/// cuprum._errors.name(message) with attributes, as Python's current error.
template <typename... Attributes>
void raise_error(const char* name, std::string_view message, std::pair<const char*, Attributes>... attributes) {
  nb::object error = nb::module_::import_("cuprum._errors").attr(name)(as_text(message));
  (nb::setattr(error, attributes.first, as_attribute(attributes.second)), ...);
  set_error(error);
}

/// What the library says, with what it names in C++ as Python has it.
std::string in_python(const std::string& message) {
  const bool has_words_of_cpp = message.find("::") != std::string::npos || message.find("{.") != std::string::npos ||
                                message.find(" = ") != std::string::npos;
  if (!has_words_of_cpp) return message;
  const nb::object said = nb::module_::import_("cuprum._wording").attr("in_python")(as_text(message));
  const auto bytes = nb::steal<nb::bytes>(PyUnicode_AsEncodedString(said.ptr(), "utf-8", "surrogateescape"));
  if (!bytes.is_valid()) throw nb::python_error();
  return {bytes.c_str(), bytes.size()};
}

template <typename T>
std::pair<const char*, T> named(const char* name, T value) {
  return {name, std::move(value)};
}

void raise_driver_error(const char* name, const DriverError& error) {
  raise_error(name, in_python(error.what()), named("code", error.code()), named("name", error.name()),
              named("description", error.description()), named("call", error.call()), named("reason", error.reason()));
}

/// cuda.core says "compilation log" before the log, and programs look for that.
std::string with_title_of_log(const CompileError& error) {
  std::string message = error.what();
  const std::size_t log = error.log().empty() ? std::string::npos : message.find(error.log());
  if (log != std::string::npos) message.insert(log, "compilation log:\n");
  return message;
}

/// NVML's errors are classes by code, as NVIDIA's bindings have them.
void raise_nvml_error(int code, const char* message) {
  nb::object error = nb::module_::import_("cuprum.system.exceptions").attr("error_of")(code, as_text(message));
  set_error(error);
}

/// Whether it is NVML that does not have something: see <cuprum/nvml.hpp>. No other library has these codes for it.
bool is_from_nvml(const NotSupported& error) {
  constexpr int not_supported = 3, function_not_found = 13;
  return error.code() == not_supported || error.code() == function_not_found;
}

/// Rethrows the exception and sets Python's error; lets pass what is not the library's.
void translate() {
  try {
    throw;
  } catch (const OutOfMemory& error) {
    raise_driver_error("OutOfMemoryError", error);
  } catch (const DriverError& error) {
    raise_driver_error("CUDAError", error);
  } catch (const CompileError& error) {
    raise_error("CompileError", with_title_of_log(error), named("log", error.log()), named("source", error.source()),
                named("options", error.options()));
  } catch (const LinkError& error) {
    raise_error("LinkError", error.what(), named("log", error.log()));
  } catch (const LibraryError& error) {
    if (error.library() == "NVML") return raise_nvml_error(error.code(), error.what());
    raise_error("LibraryError", error.what(), named("library", error.library()), named("call", error.call()),
                named("code", error.code()), named("description", error.description()));
  } catch (const WrongType& error) {
    raise_error("WrongTypeError", in_python(error.what()));
  } catch (const WrongState& error) {
    raise_error("WrongStateError", in_python(error.what()));
  } catch (const InvalidArgument& error) {
    raise_error("InvalidArgumentError", in_python(error.what()));
  } catch (const SystemError& error) {
    set_error(nb::module_::import_("cuprum._errors").attr("system_error")(error.code(), as_text(error.what())));
  } catch (const NotSupported& error) {
    if (is_from_nvml(error)) return raise_nvml_error(*error.code(), error.what());
    raise_error("NotSupportedError", in_python(error.what()), named("code", error.code()));
  } catch (const Error& error) {
    raise_error("CUDAError", in_python(error.what()));
  }
}

}  // namespace

void throw_error(const char* name, const char* message) {
  raise_error(name, message);
  throw nb::python_error();
}

void set_python_error() noexcept {
  try {
    try {
      translate();
    } catch (nb::python_error& error) {
      error.restore();
    } catch (const nb::builtin_exception& error) {
      PyObject* kind = error.type() == nb::exception_type::type_error    ? PyExc_TypeError
                       : error.type() == nb::exception_type::value_error ? PyExc_ValueError
                                                                         : PyExc_RuntimeError;
      PyErr_SetString(kind, error.what());
    } catch (const std::bad_alloc&) {
      PyErr_NoMemory();
    } catch (const std::exception& error) {
      PyErr_SetString(PyExc_RuntimeError, error.what());
    }
  } catch (nb::python_error& error) {
    error.restore();  // from making the error itself
  } catch (...) {
    PyErr_SetString(PyExc_SystemError, "an exception that is no std::exception");
  }
}

void rethrow_as_error_of(const char* library) {
  set_python_error();
  nb::python_error error;
  nb::module_::import_("cuprum._errors").attr("as_error_of")(library, error.value());
  throw error;
}

void bind_errors(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error&) {
      translate();
    } catch (const std::bad_cast&) {
      PyErr_SetString(PyExc_TypeError, "a value is of another type, or does not fit the one, that is expected here");
    }
  });
}

}  // namespace cuprum::python
