#include "toolchain/surroundings.hpp"

#include <algorithm>
#include <fstream>
#include <mutex>

#include "support/environment.hpp"
#include "support/shared_library.hpp"
#include "toolchain/linker_cache.hpp"

namespace cuprum::toolchain {
namespace {

namespace fs = std::filesystem;

struct NamedFolders {
  std::mutex mutex;
  std::vector<fs::path> folders;
};

NamedFolders& named_site_packages() {
  static NamedFolders& named = *new NamedFolders;
  return named;
}

std::string argument_zero() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string name;
  std::getline(file, name, '\0');
  return name;
}

// Where ./tour and ./check put NVIDIA's libraries when there is no toolkit. It is said in a file of the build tree,
// which is not installed.
std::string folder_of_this_build() {
  std::ifstream file(support::folder_of_code(reinterpret_cast<const void*>(&folder_of_this_build)) +
                     "/cuprum/dependencies-of-this-build");
  std::string folder;
  std::getline(file, folder);
  return folder;
}

// /usr/local/cuda is usually a link to one of the others, which are there for machines without the link.
std::vector<fs::path> usual_folders() {
  std::vector<fs::path> folders = {"/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda"};
  if (const std::string folder = folder_of_this_build(); !folder.empty()) folders.emplace(folders.begin(), folder);
  std::vector<fs::path> versions;
  std::error_code error;
  for (auto entry = fs::directory_iterator("/usr/local", error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (entry->path().filename().string().starts_with("cuda-")) versions.push_back(entry->path());
  }
  std::sort(versions.rbegin(), versions.rend());
  folders.insert(folders.end(), versions.begin(), versions.end());
  return folders;
}

std::optional<fs::path> loaded_library(const std::string& soname) {
  const support::SharedLibrary library = support::SharedLibrary::loaded(soname);
  if (!library) return std::nullopt;
  return library.path();
}

}  // namespace

Surroundings surroundings() {
  std::error_code error;
  std::lock_guard lock(named_site_packages().mutex);
  return {.variable = support::environment,
          .executable = fs::read_symlink("/proc/self/exe", error),
          .invoked_as = argument_zero(),
          .site_packages = named_site_packages().folders,
          .default_folders = usual_folders(),
          .loaded = loaded_library,
          .linked = [](const std::string& soname) {
            return linked_library(soname, support::environment("LD_LIBRARY_PATH").value_or(""));
          }};
}

void add_site_packages(fs::path folder) {
  std::lock_guard lock(named_site_packages().mutex);
  named_site_packages().folders.push_back(std::move(folder));
}

}  // namespace cuprum::toolchain
