#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/code/object_code_resource.hpp"

namespace cuprum::core {

/// Code with its PTX and its names as bytes. Of linked code the modules of PTX are included that it can be linked of.
std::string code_to_bytes(const detail::Code& code);

/// None for bytes of another origin or format.
std::optional<detail::Code> code_from_bytes(std::string_view bytes);

}  // namespace cuprum::core
