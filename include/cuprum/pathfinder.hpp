// Finding what belongs to CUDA on this machine: dynamic libraries, folders of headers, bitcode and static libraries,
// programs. The library itself finds NVRTC and its like this way.
//
//   using namespace cuprum;
//   pathfinder::Located curand = pathfinder::locate(pathfinder::Kind::header_directory, "curand");
//   std::cout << curand.path << ", found by " << curand.how << '\n';
//
// Searched are, in this order (docs/guide/finding-cuda.md has the details):
//   1. the variable that names the file, such as CUPRUM_NVRTC
//   2. for dynamic libraries: what this process has loaded already
//   3. NVIDIA's wheels beside the running Python, or in the active virtual environment
//   4. the active conda environment
//   5. the toolkit that CUDA_PATH or CUDA_HOME names
//   6. for dynamic libraries: what the system's dynamic linker finds
//   7. the folders where toolkits are installed by default, such as /usr/local/cuda
//
// This header needs none of NVIDIA's. Threads may call everything here.
#pragma once

#include <cuprum/detail/export.hpp>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

/// Where CUDA's libraries, headers and programs are.
namespace cuprum::inline CUPRUM_ABI::pathfinder {

/// What is looked for.
enum class Kind {
  dynamic_lib,       ///< "nvrtc", "cublas"…
  header_directory,  ///< of "cudart", "cccl", "curand"…
  bitcode_lib,       ///< "device": libdevice
  static_lib,        ///< "cudadevrt"…
  binary,            ///< "nvcc", "nvdisasm"…
};

/// Which step of the search found it.
enum class Via {
  variable,        ///< the variable that names the file
  loaded,          ///< the process has it loaded already
  wheel,           ///< one of NVIDIA's wheels
  conda,           ///< the active conda environment
  toolkit,         ///< CUDA_PATH or CUDA_HOME
  system,          ///< the system's dynamic linker
  default_folder,  ///< where toolkits are installed by default
};

/// Something that was found.
struct Located {
  std::string name;  ///< as it was asked for
  std::string path;  ///< of the file, or of the folder for Kind::header_directory
  Via found_via;     ///< the step of the search
  std::string how;   ///< in words: "CUDA_HOME", "wheel in /venv/lib/python3.11/site-packages"…
};

/// A dynamic library that was found and opened.
struct LoadedLib : Located {
  void* handle;  ///< for dlsym; the library stays loaded until the process ends
};

/// The names that can be asked for.
CUPRUM_API std::vector<std::string> supported(Kind kind);

/// The first one found. Throws InvalidArgument for a name that isn't supported (and lists those that are),
/// NotSupported with every place that was searched when there is none.
CUPRUM_API Located locate(Kind kind, std::string_view name);

/// All there are, in the order of the search: one behind the first is shadowed by it. Empty when there is none; throws
/// InvalidArgument like locate().
CUPRUM_API std::vector<Located> locate_all(Kind kind, std::string_view name);

/// Opens the first one that can be opened, and before it the libraries that it is known to need. Later calls give the
/// same one again. Throws as locate() does; a file that can't be opened is in the message with the loader's reason.
CUPRUM_API LoadedLib load_dynamic_lib(std::string_view name);

/// Adds a folder of Python packages to search for wheels in, before all others. For programs that embed Python, or know
/// better than the environment where packages are. Libraries that are in use already stay. Throws InvalidArgument for
/// an empty name.
CUPRUM_API void add_site_packages(std::string_view folder);

/// Prints "dynamic library", "header directory", "bitcode library", "static library", "binary".
CUPRUM_API std::ostream& operator<<(std::ostream& out, Kind kind);
/// Prints "variable", "loaded", "wheel", "conda", "toolkit", "system", "default folder".
CUPRUM_API std::ostream& operator<<(std::ostream& out, Via via);

}  // namespace cuprum::inline CUPRUM_ABI::pathfinder
