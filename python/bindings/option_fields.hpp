// The fields of options objects in Python as the library's options have them. None is "not given" everywhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bindings/common.hpp"

namespace cuprum::python {

/// True or false, by Python's truth; TypeError for a str, of which "false" would be true.
std::optional<bool> truth_field(nb::handle options, const char* name);
/// An int.
std::optional<int> number_field(nb::handle options, const char* name);
/// A str; paths and numbers are taken as what they print as.
std::optional<std::string> text_field(nb::handle options, const char* name);
/// A str, or a sequence of them, which may be paths.
std::vector<std::string> texts_field(nb::handle options, const char* name);
/// An int, or a sequence of them.
std::vector<int> numbers_field(nb::handle options, const char* name);

}  // namespace cuprum::python
