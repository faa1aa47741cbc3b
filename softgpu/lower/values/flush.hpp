// .ftz: subnormal operands and results count as zero with their sign.
//
// Most operands of .ftz instructions are results of others, flushed already. So flushing a float is first a call
// that says so; once registers are values, calls whose operand can't be subnormal go, and the rest become code.
#pragma once

#include "softgpu/lower/values/types.hpp"

namespace softgpu::lower {

// `value` is a float or double that holds a number of the format.
llvm::Value* flush(Builder&, llvm::Value* value, ptx::Type element_type);

// Leaves no call behind.
void settle_flushes(llvm::Function&);

}  // namespace softgpu::lower
