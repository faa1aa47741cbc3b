// Where Python keeps its packages, NVIDIA's wheels among them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "toolchain/surroundings.hpp"

namespace cuprum::toolchain {

struct SitePackages {
  std::filesystem::path folder;
  std::string how;  ///< we came to it, in words
};

/// Folders of packages, in this order: those that the program named, those of the Python that this process is, of the
/// virtual environment that is active, and of the conda environment that is active. Each folder once.
std::vector<SitePackages> site_packages(const Surroundings& surroundings);

}  // namespace cuprum::toolchain
