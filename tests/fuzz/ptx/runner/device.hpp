// Programs on the driver under test.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/ptx/model/program.hpp"

namespace ptx_fuzz {

/// What the driver needs of a program.
struct Launch {
  Extent block;
  unsigned blocks = 1;
  std::array<std::uint32_t, 3> parameters{};
  std::vector<std::uint8_t> memory;  // before the launch
  std::string ptx;
};
Launch make_launch(const Program& program);

struct DeviceRun {
  std::string error;  // the driver's, with its log; empty if the program ran
  std::vector<std::uint8_t> memory;
};

/// Runs it on device 0 of the driver that CUPRUM_DRIVER names.
/// `optimisation` is the level at which the driver compiles, 0 to 4.
DeviceRun run_on_device(const Launch& launch, unsigned optimisation);

}  // namespace ptx_fuzz
