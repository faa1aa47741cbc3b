// Where the system's dynamic linker finds a library, without loading it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace cuprum::toolchain {

/// Looks in the folders of LD_LIBRARY_PATH (`library_path`), then in the linker's cache, then in its built-in folders.
std::optional<std::filesystem::path> linked_library(const std::string& soname, std::string_view library_path);

/// The path of `soname` in the contents of a cache file (/etc/ld.so.cache); none when it isn't there or the contents
/// are not such a cache.
std::optional<std::string> look_up_in_linker_cache(std::string_view contents, std::string_view soname);

}  // namespace cuprum::toolchain
