// What changes from moment to moment on a GPU, as NVML knows it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cuprum::cli {

/// A number that was read.
struct StateRow {
  const char* label;
  const char* key;  ///< for programs
  std::int64_t number;
  std::string value;  ///< the number with its unit
};

/// A process that computes on the GPU.
struct ProcessRow {
  unsigned pid;
  std::string name;                     ///< empty when this user may not see it
  std::optional<std::uint64_t> memory;  ///< in bytes; empty when it isn't known
};

struct DeviceState {
  std::vector<StateRow> readings;
  std::vector<ProcessRow> processes;
};

/// Empty when there is no NVML, or it doesn't know the device; what it can't tell is left out.
DeviceState device_state(const std::string& uuid);

}  // namespace cuprum::cli
