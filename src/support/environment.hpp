#pragma once

#include <optional>
#include <string>

namespace cuprum::support {

/// The variable's value; none when it is unset or empty.
std::optional<std::string> environment(const char* name);

}  // namespace cuprum::support
