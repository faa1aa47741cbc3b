// How PTX types look as LLVM types.
//
// A value is iN, i1 for predicates, half, float or double. bfloat16 and the packed types stay integers: LLVM would
// call library functions for bfloat, and simt/ makes vectors of lanes, so a value must not be one itself.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "softgpu/ptx/vocabulary.hpp"

namespace softgpu::lower {

using Builder = llvm::IRBuilder<>;

llvm::Type* llvm_type(llvm::LLVMContext&, ptx::Type);

// The same bits as an integer of the same width, and back.
llvm::Value* to_bits(Builder&, llvm::Value*);
llvm::Value* from_bits(Builder&, llvm::Value* bits, llvm::Type*);

// A constant of the type of another value.
inline llvm::Value* number(llvm::Value* like, double value) { return llvm::ConstantFP::get(like->getType(), value); }

// An integer (or the bits of a float) made `bits` wide.
llvm::Value* resize(Builder&, llvm::Value*, unsigned bits, bool sign_extend);

bool is_packed(ptx::Type);             // two elements in one register
ptx::Type element_of(ptx::Type);       // f16x2 -> f16; other types are their own element
ptx::Type integer_of_width(unsigned);  // 32 -> b32
ptx::Type doubled(ptx::Type);          // s32 -> s64

}  // namespace softgpu::lower
