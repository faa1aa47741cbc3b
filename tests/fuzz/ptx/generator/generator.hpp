// Random programs.
#pragma once

#include <cstdint>

#include "fuzz/ptx/generator/features.hpp"
#include "fuzz/ptx/model/program.hpp"

namespace ptx_fuzz {

/// The program of this seed, the same everywhere. Hardly any has no single result; `attempt` counts the further ones.
Program generate(std::uint64_t seed, unsigned attempt, const Features& allowed);

}  // namespace ptx_fuzz
