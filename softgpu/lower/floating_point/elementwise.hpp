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
// The NaN 0x7fff where `value` is one, which was rounded to a short format: the one that the arithmetic of those gives.
// What a CPU makes of a NaN depends on the instruction that the code generator chose, and so on the width of the gang.
// Floats keep the CPU's: there it would cost as much as the arithmetic.
llvm::Value* with_canonical_nan(Builder&, llvm::Value* value, llvm::Value* rounded);
// Rounds each to nearest even to the element type. A NaN of 16 bits is 0x7fff.
void write_floats(FunctionLowering&, const ptx::Operand& destination, const Elements&, ptx::Type);

}  // namespace softgpu::lower
