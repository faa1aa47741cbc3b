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
void complain(const std::exception& error) {
  static auto& told = *new std::set<std::string>;
  static std::mutex mutex;
  constexpr std::size_t enough = 1000;
  std::lock_guard lock(mutex);
  if (told.size() >= enough || !told.insert(error.what()).second) return;
  support::log(support::text(error.what(), " (programs are compiled all the same)"));
}

/// Empty when there is none, because the program can't be cached; or can't be compiled, which the compiler will say.
std::string key_of(const Compilation& asked) {
  try {
    return program_cache_key(asked.source, asked.type, asked.options, asked.target,
                             {.name_expressions = asked.details.name_expressions})
        .key;
  } catch (const std::exception&) {
    return {};
  }
}

std::optional<Compiled> look_up(ProgramCacheResource& cache, const std::string& key, Target target) {
  try {
    const std::optional<std::string> bytes = cache.get(key);
    std::optional<Compiled> found = bytes ? from_bytes(*bytes) : std::nullopt;
    if (found && found->code.type == target) return found;
  } catch (const std::exception& error) {
    complain(error);
  }
  return std::nullopt;
}

void store(ProgramCacheResource& cache, const std::string& key, const Compiled& compiled) {
  try {
    cache.set(key, to_bytes(compiled.code, compiled.log));
  } catch (const std::exception& error) {
    complain(error);
  }
}

}  // namespace

Compiled cached_or(const std::function<Compiled()>& compile, const Compilation& compilation) {
  ProgramCacheResource* const cache = compilation.details.cache;
  if (!cache) return compile();
  const std::string key = key_of(compilation);
  if (key.empty()) return compile();
  if (std::optional<Compiled> found = look_up(*cache, key, compilation.target)) return *std::move(found);
  Compiled compiled = compile();
  // When a header changed meanwhile, nobody knows which of the two the compiler saw.
  if (key == key_of(compilation)) store(*cache, key, compiled);
  return compiled;
}

}  // namespace cuprum::core
