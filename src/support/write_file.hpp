#pragma once

#include <string>
#include <string_view>

namespace cuprum::support {

/// Makes a file of these bytes; one of the same name is replaced in one step, so that nobody reads half of it, and has
/// the rights that the old one had. What has the name and is no file, such as a link, a pipe or a terminal, is written
/// to. Throws InvalidArgument that says why it can't be written; then no new file is left behind.
void write_file(const std::string& path, std::string_view bytes);

/// The same; returns what went wrong, a number as in errno, or 0. Throws InvalidArgument for a path with a NUL inside.
[[nodiscard]] int try_write_file(const std::string& path, std::string_view bytes);

}  // namespace cuprum::support
