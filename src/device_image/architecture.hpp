// What code was compiled for: sm_90, compute_100a…
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cuprum::device_image {

struct Architecture {
  unsigned number = 0;  ///< 90 for compute capability 9.0; 0 where the image doesn't say
  char variant = '\0';  ///< 'a': for exactly this capability; 'f': for its family; otherwise null

  bool operator==(const Architecture&) const = default;
};

/// "sm_90a", as machine code is named; "compute_90a", as PTX is; and "lto_90a", as LTO-IR is.
std::string real_name(Architecture architecture);
std::string virtual_name(Architecture architecture);
std::string lto_name(Architecture architecture);

/// Reads "sm_90a", "compute_90a" and "lto_90a".
std::optional<Architecture> parse_architecture(std::string_view name);

/// Whether a device of compute capability `device` (90 for 9.0) runs machine code, or compiles PTX, of that
/// architecture.
bool runs_machine_code(unsigned device, Architecture code);
bool runs_ptx(unsigned device, Architecture code);

}  // namespace cuprum::device_image
