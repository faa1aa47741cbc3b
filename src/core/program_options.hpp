#pragma once

#include <cuprum/program.hpp>
#include <string>
#include <vector>

namespace cuprum::core {

/// The options as NVRTC's command line; without `arch`, which depends on the target.
std::vector<std::string> nvrtc_options(const ProgramOptions& options);

}  // namespace cuprum::core
