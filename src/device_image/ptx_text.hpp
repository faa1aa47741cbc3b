// What a PTX module says of itself before its code: its version and what it is for.
#pragma once

#include <cstdint>
#include <string_view>

#include "device_image/architecture.hpp"

namespace cuprum::device_image {

struct PtxHeader {
  std::uint16_t major = 0, minor = 0;  ///< of the language; 0.0 where the text doesn't start with .version
  Architecture architecture = {};      ///< the .target

  bool is_ptx() const { return major != 0; }
};

/// Reads .version and .target, behind blanks and comments; what is missing or malformed is left out. Never throws.
PtxHeader read_ptx_header(std::string_view text);

}  // namespace cuprum::device_image
