// What floating-point instructions compute.
#pragma once

#include <cstdint>

#include "fuzz/ptx/model/program.hpp"

namespace ptx_fuzz {

/// The number that these bits of type f16, f32 or f64 are.
double to_double(std::uint64_t bits, Type type);

/// The result's bits. Programs make every NaN the same one right behind an instruction that can give one.
std::uint64_t compute_float(const Instruction& instruction, const std::uint64_t* sources);

}  // namespace ptx_fuzz
