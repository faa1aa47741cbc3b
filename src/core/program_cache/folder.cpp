#include "core/program_cache/folder.hpp"

#include <cuprum/program_cache.hpp>
#include <filesystem>

#include "support/environment.hpp"

namespace cuprum::core {

std::string user_cache_folder() {
  const auto chosen = support::environment("CUPRUM_CACHE_DIR");
  if (chosen == "off") return {};
  std::error_code error;
  if (chosen) return std::filesystem::absolute(*chosen, error).string();  // the current folder may change
  // As the XDG Base Directory Specification has it: relative paths are not to be used.
  if (auto cache = support::environment("XDG_CACHE_HOME"); cache && cache->starts_with('/')) return *cache + "/cuprum";
  if (auto home = support::environment("HOME"); home && home->starts_with('/')) return *home + "/.cache/cuprum";
  return {};
}

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI {

ProgramCacheResource* default_program_cache() {
  // Never destroyed: programs may be compiled while the process exits.
  static ProgramCacheResource* const cache = []() -> ProgramCacheResource* {
    constexpr std::size_t gibibyte = std::size_t{1} << 30;
    std::string folder = core::user_cache_folder();
    if (folder.empty()) return nullptr;
    return new FileStreamProgramCache(std::move(folder), {.max_size_bytes = gibibyte});
  }();
  return cache;
}

}  // namespace cuprum::inline CUPRUM_ABI
