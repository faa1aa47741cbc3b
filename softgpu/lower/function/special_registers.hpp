#pragma once

#include "softgpu/lower/function/function_lowering.hpp"

namespace softgpu::lower {

// The value of %tid.x, %laneid, %clock64… as i32 or i64.
llvm::Value* special_register(FunctionLowering&, ptx::SpecialRegister);

}  // namespace softgpu::lower
