// Files that programs include, read and scanned once per process for as long as they don't change.
#pragma once

#include <sys/stat.h>

#include <memory>
#include <string>

#include "core/program_cache/include_scan.hpp"
#include "support/content_hash.hpp"

namespace cuprum::core {

struct ScannedFile {
  support::ContentHash hash;
  IncludeScan includes;
};

/// `status` is what stat() says of the file now. Null when it can't be read. Threads may call it.
std::shared_ptr<const ScannedFile> scanned_file(const std::string& path, const struct stat& status);

}  // namespace cuprum::core
