// What a cache holds of one compilation: as the value the code, and as notes the PTX that came with it, its names, and
// what the compiler printed.
#pragma once

#include <cuprum/program_cache.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/code/object_code_resource.hpp"

namespace cuprum::core {

struct Compiled {
  detail::Code code;
  std::string log = {};
};

ProgramCacheEntry entry_of(const detail::Code& code, std::string_view log);

/// The code that a cache has. Values without notes are somebody else's: code is taken for what it is, and without
/// names. None for what is no code, and for notes of another value or format.
std::optional<Compiled> compiled_from(ProgramCacheEntry entry);

}  // namespace cuprum::core
