// The Python object of a tensor map.
#pragma once

#include "bindings/common.hpp"

namespace cuprum::python {

struct PythonTensorMap {
  TensorMapDescriptor map;
  nb::object view;  ///< a StridedMemoryView, which keeps the memory
};

}  // namespace cuprum::python
