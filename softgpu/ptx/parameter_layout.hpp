// Where a kernel's parameters are in its block of parameters.
//
// GPUs have the block in a bank of constants, behind other things, and align a parameter by its place in the bank. So
// where one that is aligned to more than 16 bytes is in the block depends on where that begins, which is different from
// one compute capability to the other: ptxas puts the 128 bytes of a tensor map to 48 for 9.0 and to 64 for 10.0, if
// one word comes before.
#pragma once

#include <cstdint>

#include "softgpu/ptx/ast.hpp"

namespace softgpu::ptx {

// Of the block in the bank: 90 for compute capability 9.0.
std::uint64_t parameter_base(unsigned compute_capability);

// Whether the parameters are where they were before.
bool lay_out_parameters(Function& kernel, std::uint64_t base);

}  // namespace softgpu::ptx
