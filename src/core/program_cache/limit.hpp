#pragma once

#include <cuprum/error.hpp>
#include <cuprum/program_cache.hpp>
#include <limits>

namespace cuprum::core {

/// In bytes.
inline std::size_t checked_limit(const ProgramCacheOptions& options) {
  if (options.max_size_bytes == std::size_t{0}) {
    throw InvalidArgument(
        "max_size_bytes of a program cache is 0, so that it could keep nothing: leave it out for no "
        "limit, or compile with .cache = nullptr for no cache");
  }
  return options.max_size_bytes.value_or(std::numeric_limits<std::size_t>::max());
}

}  // namespace cuprum::core
