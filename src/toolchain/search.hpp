// Where NVIDIA's compiler libraries and headers are found. None of them is linked: a program that doesn't compile
// anything runs without them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/shared_library.hpp"

namespace cuprum::toolchain {

/// A library that is opened at run time.
struct LibrarySpec {
  const char* title;                    ///< "NVRTC"
  const char* purpose;                  ///< "compiles CUDA C++ at run time"
  const char* variable;                 ///< environment variable that names the file, over everything else
  std::vector<std::string> file_names;  ///< newest first
  const char* how_to_get;
};

/// A folder laid out like a CUDA toolkit: lib or lib64, include.
struct ToolkitRoot {
  std::filesystem::path folder;
  std::string origin;  ///< how we came to it, for the message when nothing is found
};

/// CUDA_HOME, CUDA_PATH, /usr/local/cuda, the project's own folder of dependencies (in its build tree), and NVIDIA's
/// packages in the active Python environment; those that exist.
std::vector<ToolkitRoot> toolkit_roots();

struct FoundLibrary {
  support::SharedLibrary library;
  std::filesystem::path path;
};

/// Opens the library that spec.variable names, or the first one found below `roots`, or the one the system's loader
/// finds. Throws NotSupported that says what was searched and how to get it.
FoundLibrary open_library(const LibrarySpec& spec, const std::vector<ToolkitRoot>& roots);

/// Folders of CUDA's headers that belong to a library at `library`, for a compiler's include path; empty if there are
/// none.
std::vector<std::filesystem::path> header_folders(const std::filesystem::path& library,
                                                  const std::vector<ToolkitRoot>& roots);

}  // namespace cuprum::toolchain
