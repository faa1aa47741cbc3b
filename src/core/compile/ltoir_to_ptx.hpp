#pragma once

#include <cuprum/linker.hpp>
#include <string>
#include <vector>

#include "core/code/object_code_resource.hpp"

namespace cuprum::core {

/// LTO-IR linked into one PTX module that can be linked with `others`, whose functions it may call and the other way
/// round. Throws LinkError.
std::string ltoir_to_ptx(const std::vector<const detail::Code*>& ltoir, const LinkerOptions& options,
                         const std::vector<std::string>& others);

}  // namespace cuprum::core
