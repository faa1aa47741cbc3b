// How Program::compile uses a cache.
#pragma once

#include <cuprum/program.hpp>
#include <functional>

#include "core/program_cache/entry.hpp"

namespace cuprum::core {

/// What Program::compile is asked for.
struct Compilation {
  std::string_view source;
  SourceCodeType type;
  const ProgramOptions& options;
  Target target;
  const CompileOptions& details;
};

/// What details.cache has of this compilation; else what `compile` gives, which it has then. Throws what `compile`
/// throws, and nothing else.
Compiled cached_or(const std::function<Compiled()>& compile, const Compilation& compilation);

}  // namespace cuprum::core
