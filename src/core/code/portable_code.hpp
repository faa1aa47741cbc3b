// PTX for devices that can't run the machine code at hand.
#pragma once

#include <string>
#include <vector>

#include "core/code/object_code_resource.hpp"

namespace cuprum::core {

/// PTX that does what `code` does: one module, or several that are yet to be linked. Empty when none is known, and for
/// what was linked with libraries, of which a link takes only what it needs. LTO-IR is linked once more for this, to
/// PTX, which may throw LinkError.
std::vector<std::string> ptx_modules(const detail::Code& code);

/// PTX that does what `code` does as one image that the driver loads. It links the modules and libraries if they are
/// several, which may throw LinkError. Empty when no PTX is known.
std::string portable_image(const detail::Code& code);

/// Modules of PTX that are linked when an image is needed. Defined where linking is.
std::shared_ptr<const detail::PortableSource> source_of_modules(std::vector<std::string> ptx);

/// A cubin and its PTX in one fatbin, of which every driver takes what it can use. Empty when no PTX is known.
std::string portable_fatbin(const detail::Code& cubin);

}  // namespace cuprum::core
