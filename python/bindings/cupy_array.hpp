// Arrays of CuPy, which say all there is to say by attributes. Its __dlpack__ asks the driver what the memory is,
// twice, which takes longer than all else about a view.
#pragma once

#include "bindings/strided_memory_view.hpp"

namespace cuprum::python {

/// Fills an empty view of a cupy.ndarray, where no order is asked for (`stream` is -1). False for all else: its methods
/// must be asked, and the view stays empty.
bool fill_from_cupy_array(PythonView& view, nb::handle array, nb::handle stream);

}  // namespace cuprum::python
