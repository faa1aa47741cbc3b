#pragma once

#include <sys/stat.h>

#include <string>

#include "support/byte_fields.hpp"

namespace cuprum::core {

/// What a file or folder that is not going to be read is known by: its size and when it was last written.
inline void write_identity(support::FieldWriter& key, const struct stat& status) {
  key.add(static_cast<std::uint64_t>(status.st_size))
      .add(static_cast<std::uint64_t>(status.st_mtim.tv_sec))
      .add(static_cast<std::uint64_t>(status.st_mtim.tv_nsec));
}

/// The same with its path; all zero when there is no such file.
inline void write_identity(support::FieldWriter& key, const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) status = {};
  key.add(path);
  write_identity(key, status);
}

}  // namespace cuprum::core
