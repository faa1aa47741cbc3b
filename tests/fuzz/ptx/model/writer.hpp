// Programs as PTX.
#pragma once

#include <string>

#include "fuzz/ptx/model/program.hpp"

namespace ptx_fuzz {

/// A module with the kernel `fuzz(.param .u64 memory, .param .u32 n0, n1, n2)`. Comments in front of it say the launch.
std::string write_ptx(const Program& program);

}  // namespace ptx_fuzz
