// The Python object of a layout.
#pragma once

#include "bindings/common.hpp"

namespace cuprum::python {

struct PythonLayout {
  StridedLayout layout;
  bool has_strides = true;  ///< else they were given as None: dense in C order

  bool operator==(const PythonLayout& other) const { return layout == other.layout; }
};

/// Of shape and strides as Python gives them: tuples of ints, the strides possibly None.
PythonLayout layout_from(nb::handle shape, nb::handle strides, std::int64_t itemsize, bool divide_strides);

/// Numbers as a tuple.
nb::tuple tuple_of_numbers(std::span<const std::int64_t> numbers);

/// None, or a tuple.
nb::object strides_of(const PythonLayout& layout);

}  // namespace cuprum::python
