// What `cuprum doctor` finds out about a machine, before anything is judged. An empty `problem` means that the thing
// works; other empty fields, that there is nothing to say.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cuprum::cli {

struct DeviceFacts {
  int id = 0;
  std::string name;
  std::string architecture;  ///< "90" for compute capability 9.0
  std::uint64_t memory = 0;
};

struct DriverFacts {
  std::string name;  ///< "NVIDIA" or "softgpu"
  std::string path;
  int version = 0;  ///< of CUDA, 13000 for 13.0
  std::vector<DeviceFacts> devices;
  std::string problem;
};

struct Place {
  std::string path;
  std::string how;  ///< it was found
};

struct LibraryFacts {
  std::string name;  ///< as the pathfinder knows it
  std::string path;
  std::string how;
  std::string via;      ///< pathfinder::Via in words
  std::string version;  ///< in the library's own words
  int cuda_version = 0;
  std::string problem;
  std::vector<Place> shadowed;  ///< others that were found behind it
  /// What would be taken without LD_LIBRARY_PATH, when that is another file.
  std::string without_linker_path;
};

/// What NVRTC has with it.
struct CompilerFacts {
  LibraryFacts library;
  std::string builtins;
  std::vector<std::string> header_folders;
  std::vector<std::string> remarks;  ///< why there are no headers
  std::vector<int> architectures;    ///< that it compiles for: 75, 80…
};

struct HeaderFacts {
  std::string path;
  std::string how;
  int cuda_version = 0;
};

struct CacheFacts {
  std::string name;  ///< what is in it
  std::string path;  ///< empty when nothing is kept
  std::uint64_t bytes = 0;
  std::uint64_t limit = 0;  ///< most bytes that it may hold, when that is known
  std::uint64_t files = 0;
  std::string problem;
};

/// What running a small program, from source to checked result, came to.
struct TourFacts {
  std::string driver;
  std::string device;
  double seconds = 0;
  std::string problem;
};

struct Facts {
  std::string version;                           ///< of Cuprum
  std::map<std::string, std::string> variables;  ///< those of the environment that matter and are set
  std::string kernel_module;                     ///< version of NVIDIA's, when it is loaded
  std::vector<std::string> forbidden_devices;    ///< files of NVIDIA's below /dev that this user may not open
  DriverFacts nvidia;
  DriverFacts softgpu;
  CompilerFacts nvrtc;
  std::vector<LibraryFacts> libraries;  ///< without NVRTC
  std::vector<HeaderFacts> headers;
  std::string libdevice;
  std::vector<CacheFacts> caches;
  TourFacts tour;
};

enum class Severity { note, warning, error };

/// Something that is wrong or surprising, and what to do about it.
struct Finding {
  Severity severity;
  std::string id;  ///< for programs: "ptx-newer-than-driver"
  std::string what;
  std::string advice;
};

}  // namespace cuprum::cli
