// What changes from moment to moment on a GPU, as NVML knows it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cuprum::cli {

struct StateRow {
  const char* label;
  const char* key;  ///< for programs
  std::int64_t number;
  std::string value;  ///< the number with its unit
};

/// Empty when there is no NVML, or it doesn't know the device (softgpu's, say); what it can't tell is left out.
std::vector<StateRow> device_state(const std::string& uuid);

}  // namespace cuprum::cli
