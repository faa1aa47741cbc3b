#include "core/program_cache/use.hpp"

#include <exception>
#include <mutex>
#include <set>

#include "core/program_cache/key.hpp"
#include "support/log.hpp"
#include "support/text.hpp"

namespace cuprum::core {
namespace {

/// Every message once: a folder that can't be written can't be written for all programs.
void complain(const std::string& of_what) {
  static auto& told = *new std::set<std::string>;
  static std::mutex mutex;
  constexpr std::size_t enough = 1000;
  std::lock_guard lock(mutex);
  if (told.size() >= enough || !told.insert(of_what).second) return;
  support::log(support::text(of_what, " (programs are compiled all the same)"));
}

/// What the exception that is being handled says. A cache may be anybody's, and so may what it throws.
std::string reason() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "a program cache threw something that is not a std::exception";
  }
}

/// The user's own folder is the library's to keep notes in. In another cache they would be among the caller's entries,
/// and a caller with another cache may not want anything in that folder.
ProgramCacheResource* place_for_notes(ProgramCacheResource& cache) {
  return &cache == default_program_cache() ? &cache : nullptr;
}

/// Empty when there is none, because the program can't be cached; or can't be compiled, which the compiler will say.
std::string key_of(const Compilation& asked) {
  try {
    return program_cache_key(asked.source, asked.type, asked.options, asked.target,
                             {.name_expressions = asked.details.name_expressions},
                             place_for_notes(*asked.details.cache))
        .key;
  } catch (const std::exception&) {
    return {};
  }
}

/// Notes have the names of templates, and the PTX of machine code, which a driver may need in place of that.
bool needs_notes(const Compilation& asked) {
  return asked.target == Target::cubin || !asked.details.name_expressions.empty();
}

std::optional<Compiled> look_up(ProgramCacheResource& cache, const std::string& asked_key, const Compilation& asked) {
  try {
    std::optional<ProgramCacheEntry> entry = cache.get_entry(asked_key);
    if (!entry || (entry->notes.empty() && needs_notes(asked))) return std::nullopt;
    std::optional<Compiled> found = compiled_from(*std::move(entry));
    if (found && found->code.type == asked.target) return found;
  } catch (...) {
    complain(reason());
  }
  return std::nullopt;
}

void store(ProgramCacheResource& cache, const std::string& key, const Compiled& compiled) {
  try {
    cache.set_entry(key, entry_of(compiled.code, compiled.log));
  } catch (...) {
    complain(reason());
  }
}

}  // namespace

Compiled cached_or(const std::function<Compiled()>& compile, const Compilation& compilation) {
  ProgramCacheResource* const cache = compilation.details.cache;
  if (!cache) return compile();
  const std::string key = key_of(compilation);
  if (key.empty()) return compile();
  if (std::optional<Compiled> found = look_up(*cache, key, compilation)) return *std::move(found);
  Compiled compiled = compile();
  // When a header changed meanwhile, nobody knows which of the two the compiler saw.
  if (key == key_of(compilation)) store(*cache, key, compiled);
  return compiled;
}

}  // namespace cuprum::core
