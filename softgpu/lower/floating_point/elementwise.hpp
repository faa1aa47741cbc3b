// Packed registers (f16x2, u16x2…) as their elements, low half first; other values as one element.
#pragma once

#include <llvm/ADT/SmallVector.h>

#include "softgpu/lower/function/function_lowering.hpp"

namespace softgpu::lower {

using Elements = llvm::SmallVector<llvm::Value*, 2>;

// The elements of a packed integer, each of the LLVM type of element_of(type).
Elements split(FunctionLowering&, llvm::Value*, ptx::Type);
llvm::Value* join(FunctionLowering&, const Elements&);

// Floating-point elements in the type they are computed in: double for f64, float for all others.
Elements read_floats(FunctionLowering&, const ptx::Operand&, ptx::Type);
// Rounds each to nearest even to the element type. A NaN of 16 bits is 0x7fff.
void write_floats(FunctionLowering&, const ptx::Operand& destination, const Elements&, ptx::Type);

}  // namespace softgpu::lower
