#pragma once

#include "core/code/object_code_resource.hpp"

namespace cuprum::core {

/// Loads code so that it can run in `context`, which must be current. Machine code that the device can't run is
/// replaced by the PTX of the same compilation. Throws CompileError with the driver's log for PTX that it can't
/// compile.
CUlibrary load_library(const detail::Code& code, const ContextRecord& context);

}  // namespace cuprum::core
