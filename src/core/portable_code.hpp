// PTX for devices that can't run the machine code at hand.
#pragma once

#include <string>
#include <vector>

#include "core/object_code_resource.hpp"

namespace cuprum::core {

/// PTX that does what `code` does: one module, or several that are yet to be linked. Empty when none is known. What was
/// linked from LTO-IR is linked once more, to PTX, which may throw LinkError.
std::vector<std::string> ptx_modules(const detail::Code& code);

/// The same as one image that the driver loads, which links the modules if they are several. Empty when none is known.
std::string portable_image(const detail::Code& code);

}  // namespace cuprum::core
