// What other bindings need of buffers.
#pragma once

#include "bindings/common.hpp"

namespace cuprum::python {

/// What Buffer.fill and memset nodes repeat: an int from 0 to 255, or the 1, 2 or 4 bytes of an object with the buffer
/// protocol. OverflowError, TypeError and ValueError for what else.
struct FillPattern {
  std::byte bytes[4];
  std::size_t size;
};
FillPattern fill_pattern_from(nb::handle value);

}  // namespace cuprum::python
