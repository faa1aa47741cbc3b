// The table of instructions: which function lowers which.
#pragma once

#include "softgpu/lower/function/instruction_row.hpp"

namespace softgpu::lower {

const Row& row_of(ptx::Opcode);

}  // namespace softgpu::lower
