#include "bindings/option_fields.hpp"

#include "bindings/object_code.hpp"

namespace cuprum::python {
namespace {

bool is_sequence(nb::handle given) { return PyList_Check(given.ptr()) || PyTuple_Check(given.ptr()); }

/// Of a str or a path.
std::optional<std::string> text_of(nb::handle given, const char* name) {
  if (PyUnicode_Check(given.ptr())) return text_from(given, name);
  if (!nb::hasattr(given, "__fspath__")) return std::nullopt;
  return path_from(given);
}

std::optional<int> number_of(nb::handle given, const char* name) {
  nb::object index = nb::steal(PyNumber_Index(given.ptr()));
  if (!index.is_valid()) {
    PyErr_Clear();
    return std::nullopt;
  }
  int value = 0;
  if (nb::try_cast(index, value)) return value;
  throw nb::value_error((std::string("the option ") + name + " can't be " + nb::cast<std::string>(nb::str(index)) +
                         ", which does not fit into 32 bits")
                            .c_str());
}

/// One value or several, each by `read`.
template <typename T, typename Read>
std::vector<T> one_or_several(nb::handle options, const char* name, const char* expected, Read read) {
  const nb::object given = options.attr(name);
  std::vector<T> values;
  if (given.is_none()) return values;
  const auto add = [&](nb::handle one) {
    const std::optional<T> value = read(one, name);
    if (!value) refuse_field(options, name, expected);
    values.push_back(*value);
  };
  if (is_sequence(given)) {
    for (nb::handle one : given) add(one);
  } else {
    add(given);
  }
  return values;
}

}  // namespace

std::optional<bool> truth_field(nb::handle options, const char* name) {
  const nb::object given = options.attr(name);
  if (given.is_none()) return std::nullopt;
  if (PyUnicode_Check(given.ptr())) refuse_field(options, name, "True or False");
  const int truth = PyObject_IsTrue(given.ptr());
  if (truth < 0) throw nb::python_error();
  return truth != 0;
}

std::optional<int> number_field(nb::handle options, const char* name) {
  const nb::object given = options.attr(name);
  if (given.is_none()) return std::nullopt;
  const std::optional<int> value = number_of(given, name);
  if (!value) refuse_field(options, name, "an int");
  return value;
}

std::optional<std::string> text_field(nb::handle options, const char* name) {
  const nb::object given = options.attr(name);
  if (given.is_none()) return std::nullopt;
  if (PyLong_Check(given.ptr())) return nb::cast<std::string>(nb::str(given));  // a seed, a level, a version
  std::optional<std::string> text = text_of(given, name);
  if (!text) refuse_field(options, name, "a str");
  return text;
}

std::vector<std::string> texts_field(nb::handle options, const char* name) {
  return one_or_several<std::string>(options, name, "a str, or a list or tuple of them", text_of);
}

std::vector<int> numbers_field(nb::handle options, const char* name) {
  return one_or_several<int>(options, name, "an int, or a list or tuple of them", number_of);
}

}  // namespace cuprum::python
