// What instructions that concern one thread's registers compute.
#pragma once

#include <cstdint>

#include "fuzz/ptx/model/program.hpp"

namespace ptx_fuzz {

/// The result's bits; `sources` are those of the operands, at most five. A conversion's result is as wide as the
/// register of `result_bits` bits that gets it.
std::uint64_t compute(const Instruction& instruction, const std::uint64_t* sources, unsigned result_bits);

/// The same for instructions of extended precision. As on a GPU, a subtraction adds the complement: the flag is set
/// where nothing was borrowed.
std::uint64_t compute_with_carry(const Instruction& instruction, const std::uint64_t* sources, bool& carry);

/// What an atomic operation leaves in memory.
std::uint64_t compute_atomic(Variant operation, Type type, std::uint64_t old, std::uint64_t value,
                             std::uint64_t desired);

}  // namespace ptx_fuzz
