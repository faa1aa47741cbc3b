#pragma once

#include <string>

namespace cuprum::support {

/// The bytes of a file. Throws InvalidArgument that says why it can't be read.
std::string read_file(const std::string& path);

}  // namespace cuprum::support
