// NVRTC together with what belongs to it. A compiler that meets the built-ins or the headers of another release fails
// in strange ways, or compiles and yields wrong code: so a set comes from one place or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "toolchain/search.hpp"

namespace cuprum::toolchain {

struct NvrtcSet {
  OpenLibrary nvrtc;
  int version;                                        ///< 13000 is 13.0
  std::filesystem::path builtins;                     ///< opened, too
  std::vector<std::filesystem::path> header_folders;  ///< for the include path; empty when the set has no headers
  std::vector<std::string> remarks;                   ///< what was passed over on the way, and why headers are missing
};

/// The first set that is complete; when none is, the first without headers, which compiles what includes none. Throws
/// NotSupported when there is neither. What CUPRUM_NVRTC names is taken or refused, without looking further.
NvrtcSet open_nvrtc_set(const Surroundings& surroundings);

/// Folders of the CUDA headers of release `version` that came with the library at `library`; empty when there are none,
/// and then `remarks` says what was looked at.
std::vector<std::filesystem::path> headers_of(const std::filesystem::path& library, int version,
                                              std::vector<std::string>& remarks);

}  // namespace cuprum::toolchain
