// What lowers one instruction: a function for each opcode, in the folders of the families. Each builds its code at
// f.ir.
#pragma once

#include "softgpu/lower/function/function_lowering.hpp"
#include "softgpu/lower/function/instruction_row.hpp"

namespace softgpu::lower {

#define SOFTGPU_HANDLER(name) void name(FunctionLowering&, const ptx::Instruction&);

}  // namespace softgpu::lower
