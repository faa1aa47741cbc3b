// What the compiler's own headers include. To look through all of them for each program would take longer than all else
// that a cache does; they don't change, so what matters about one is found out once and noted.
#pragma once

#include <sys/stat.h>

#include <cuprum/program_cache.hpp>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

namespace cuprum::core {

using NameSet = std::unordered_set<std::string>;

struct CompilerHeaders {
  std::vector<std::string> folders;
  bool beside_includer;         ///< as in IncludeSearch
  ProgramCacheResource* notes;  ///< for other processes; may be null
};

/// The files and folders whose presence in a folder of the include path could replace something that the header at
/// `path` includes, directly or through others: "cub" for <cub/cub.cuh>. `status` is what stat() says of the header.
std::shared_ptr<const NameSet> names_searched_by(const std::string& path, const struct stat& status,
                                                 const CompilerHeaders& headers);

}  // namespace cuprum::core
