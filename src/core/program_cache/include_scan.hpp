// What a piece of CUDA C++ includes, without running the preprocessor: conditions are not looked at, so it is what the
// code may include at most.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cuprum::core {

struct IncludeScan {
  struct Reference {
    std::string name;
    bool quoted;  ///< "name", not <name>
    bool operator==(const Reference&) const = default;
  };
  std::vector<Reference> references;  ///< by #include and by __has_include
  /// Why compiling the same text with the same files may give something else; empty when it can't.
  std::string obstacle;
};

IncludeScan scan_includes(std::string_view text);

}  // namespace cuprum::core
