#pragma once

#include <cuprum/program_cache.hpp>
#include <string>
#include <string_view>

namespace cuprum::core {

struct ProgramCacheKey {
  std::string key;
  std::string obstacle;  ///< why there is no key; empty when there is
};

/// As make_program_cache_key(), which throws where this says what is in the way. `notes` is where to note what the
/// compiler's headers include, for other processes; may be null. Throws for what can't be compiled.
ProgramCacheKey program_cache_key(std::string_view source, SourceCodeType type, const ProgramOptions& options,
                                  Target target, const ProgramCacheKeyOptions& key_options,
                                  ProgramCacheResource* notes);

}  // namespace cuprum::core
