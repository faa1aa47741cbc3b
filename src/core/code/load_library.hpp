#pragma once

#include "core/code/object_code_resource.hpp"

namespace cuprum::core {

/// The library of `code` that runs in `context`, which must be current: one of those in `loaded`, or a new one that is
/// put there. Machine code that the device can't run is replaced by the PTX of the same compilation. Throws
/// CompileError with the driver's log for PTX that it can't compile.
CUlibrary load_library(const detail::Code& code, const ContextRecord& context, detail::LoadedCode& loaded);

}  // namespace cuprum::core
