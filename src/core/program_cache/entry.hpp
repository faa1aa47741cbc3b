// What a cache holds of one compilation: the code, the PTX that came with it, its names, and what the compiler printed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/code/object_code_resource.hpp"

namespace cuprum::core {

struct Compiled {
  detail::Code code;
  std::string log = {};
};

std::string to_bytes(const detail::Code& code, std::string_view log);

/// None for bytes of another origin or format.
std::optional<Compiled> from_bytes(std::string_view bytes);

}  // namespace cuprum::core
