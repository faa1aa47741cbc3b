// The files that a program includes, directly and through others: found where the compiler finds them, and put into the
// key of the program's cache entry with their contents.
#pragma once

#include <cuprum/program_cache.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "support/byte_fields.hpp"

namespace cuprum::core {

struct IncludeSearch {
  std::string source_folder;  ///< of the program; empty is the current one. With a '/' at the end
  bool beside_includer;       ///< whether "name" is looked for first beside the file that includes it
  std::vector<std::string> user_folders;
  std::vector<std::string> compiler_folders;  ///< searched last
  ProgramCacheResource* notes = nullptr;      ///< where to note what compiler's headers include; may be null
};

/// Writes which files `source` (and `pre_includes`, before it) includes and what is in them. Returns why they can't all
/// be told; empty when they can.
///
/// The compiler's own headers are taken for constant, by their size and time of change. They are followed only when one
/// of the user's folders has something that could take the place of what they include.
std::string write_included_files(std::string_view source, const std::vector<std::string>& pre_includes,
                                 const IncludeSearch& search, support::FieldWriter& key);

}  // namespace cuprum::core
