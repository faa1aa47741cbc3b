#pragma once

#include <string>
#include <string_view>

namespace cuprum::core {

/// The lines of `source` around the first error that `log` reports for the file `name`, numbered, the guilty one
/// marked; empty when the log has no such error.
std::string source_excerpt(std::string_view source, std::string_view name, std::string_view log);

}  // namespace cuprum::core
