// What a search depends on, apart from the files themselves: kept in one place, so that tests can have their own.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cuprum::toolchain {

struct Surroundings {
  using FindLibrary = std::function<std::optional<std::filesystem::path>(const std::string& soname)>;

  std::function<std::optional<std::string>(const char* name)> variable;  ///< of the environment
  std::filesystem::path executable;                                      ///< what this process runs
  std::string invoked_as;                                                ///< its argv[0]
  std::vector<std::filesystem::path> site_packages;                      ///< that the program named itself
  std::vector<std::filesystem::path> default_folders;                    ///< where toolkits are installed
  FindLibrary loaded;                                                    ///< among the libraries of this process
  FindLibrary linked;                                                    ///< where the system's linker finds it
};

/// Those of this process, read anew at each call.
Surroundings surroundings();

/// See pathfinder::add_site_packages.
void add_site_packages(std::filesystem::path folder);

}  // namespace cuprum::toolchain
