#pragma once

#include <string>
#include <vector>

#include "core/code/object_code_resource.hpp"
#include "device_image/architecture.hpp"

namespace cuprum::core {

/// The PTX in a fatbin, a host object or a library that suits an architecture best, all modules of it. Empty when some
/// fatbin in it has none.
std::vector<std::string> ptx_in_container(const detail::Code& container, device_image::Architecture architecture);

/// Whether there is LTO-IR in it.
bool holds_ltoir(const detail::Code& container);

}  // namespace cuprum::core
