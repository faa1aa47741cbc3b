// NVRTC, NVIDIA's compiler for CUDA C++ at run time.
#pragma once

#include <nvrtc.h>

#include <filesystem>
#include <string>
#include <vector>

namespace cuprum::toolchain {

/// Its functions by their names in <nvrtc.h>; none is null.
struct Nvrtc {
#define CUPRUM_NVRTC_FUNCTION(name) decltype(&::name) name;
#include "toolchain/nvrtc_functions.def"

  std::filesystem::path path;
  std::vector<std::filesystem::path> header_folders;  ///< of the CUDA headers that belong to it
};

/// Finds and opens NVRTC at the first call, for the life of the process. Throws NotSupported when there is none, each
/// time anew, so that it can be installed meanwhile. Threads may call it.
const Nvrtc& nvrtc();

}  // namespace cuprum::toolchain
