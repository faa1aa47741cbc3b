// The folders where compiled code is kept: where they are, how big, and whether they can be written to.
#include <unistd.h>

#include <cstdlib>
#include <cuprum/program_cache.hpp>
#include <filesystem>

#include "gather.hpp"

namespace cuprum::cli {
namespace {

namespace fs = std::filesystem;

// As softgpu does it (softgpu/jit/object_cache.cpp); the CUDA driver's interface has no question for it.
fs::path softgpu_cache() {
  if (const char* folder = std::getenv("SOFTGPU_CACHE_DIR"); folder && *folder) return folder;
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder && *folder == '/') return fs::path(folder) / "softgpu";
  if (const char* home = std::getenv("HOME"); home && *home == '/') return fs::path(home) / ".cache/softgpu";
  return {};
}

// The folder itself, or what it would be made in.
fs::path existing_part(fs::path folder) {
  std::error_code error;
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

CacheFacts look_at(const char* name, const fs::path& folder) {
  CacheFacts facts{.name = name, .path = folder.string()};
  if (folder.empty()) {
    facts.problem = "neither HOME nor XDG_CACHE_HOME is set, so nothing is kept";
    return facts;
  }
  const fs::path part = existing_part(folder);
  std::error_code error;
  if (!fs::is_directory(part, error)) {
    facts.problem = part.string() + " is not a folder";
  } else if (access(part.c_str(), W_OK | X_OK) != 0) {
    facts.problem = part.string() + " can't be written to";
  }
  for (auto entry = fs::recursive_directory_iterator(folder, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;  // another process may have removed it
    if (!entry->is_regular_file(ignored)) continue;
    ++facts.files;
    if (const auto size = entry->file_size(ignored); !ignored) facts.bytes += size;
  }
  return facts;
}

CacheFacts program_cache() {
  constexpr const char* name = "compiled programs";
  const char* chosen = std::getenv("CUPRUM_CACHE_DIR");
  if (chosen && std::string_view(chosen) == "off") return {.name = name};
  const auto* cache = dynamic_cast<FileStreamProgramCache*>(default_program_cache());
  CacheFacts facts = look_at(name, cache ? cache->path() : std::string());
  if (cache) facts.limit = cache->max_size_bytes().value_or(0);
  return facts;
}

}  // namespace

std::vector<CacheFacts> gather_caches() { return {program_cache(), look_at("kernels of softgpu", softgpu_cache())}; }

}  // namespace cuprum::cli
