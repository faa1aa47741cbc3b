// The two 8-bit floating-point formats, of which PTX only has pairs, and only converts them.
#pragma once

#include "softgpu/lower/values/types.hpp"

namespace softgpu::lower {

bool is_float8_pair(ptx::Type);

// A float rounded to nearest even, as 8 bits of the pair's format. What is too large, infinities too, becomes the
// largest number.
llvm::Value* round_to_float8(Builder&, llvm::Value* single, ptx::Type pair);
// 8 bits of the pair's format as a float; exact.
llvm::Value* float8_to_float(Builder&, llvm::Value* bits, ptx::Type pair);

}  // namespace softgpu::lower
