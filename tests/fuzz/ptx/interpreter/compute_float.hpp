// What floating-point instructions compute.
#pragma once

#include <cstdint>

#include "fuzz/ptx/model/program.hpp"

namespace ptx_fuzz {

/// The number that these bits of a type that is not packed are.
double to_double(std::uint64_t bits, Type type);

/// The result's bits, with every NaN the canonical one.
std::uint64_t compute_float(const Instruction& instruction, const std::uint64_t* sources);

/// The sum of numbers of this type, or of each of their halves.
std::uint64_t add_floats(Type type, std::uint64_t a, std::uint64_t b);

}  // namespace ptx_fuzz
