// How Program::compile uses a cache.
#pragma once

#include <cuprum/program.hpp>
#include <functional>

#include "core/compile/program_resource.hpp"
#include "core/program_cache/entry.hpp"

namespace cuprum::core {

/// What options.cache has of this compilation; else what `compile` gives, which it has then. Throws what `compile`
/// throws, and nothing else.
Compiled cached_or(const std::function<Compiled()>& compile, const detail::ProgramResource& program, Target target,
                   const CompileOptions& options);

}  // namespace cuprum::core
