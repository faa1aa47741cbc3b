// Programs on the driver under test.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/ptx/model/program.hpp"

namespace ptx_fuzz {

struct DeviceRun {
  std::string error;  // the driver's, with its log; empty if the program ran
  std::vector<std::uint8_t> memory;
};

/// Runs it on device 0 of the driver that CUPRUM_DRIVER names.
DeviceRun run_on_device(const Program& program, const std::string& ptx);

}  // namespace ptx_fuzz
