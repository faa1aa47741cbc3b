// Arrays of CuPy, which say all there is to say by attributes. Its __dlpack__ asks the driver what the memory is, twice,
// which takes longer than all else about a view.
#pragma once

#include "bindings/strided_memory_view.hpp"

namespace cuprum::python {

/// Of a cupy.ndarray, where no order is asked for (`stream` is -1). Nothing for all else: its methods must be asked.
std::optional<PythonView> view_of_cupy_array(nb::handle array, nb::handle stream);

}  // namespace cuprum::python
