// Whether two pointers lead to one place in memory.
#pragma once

#include "llvm/IR/Instruction.h"

namespace softgpu::simt {

// Whether they are computed alike. What is loaded twice from one place counts as alike, although others may have
// written there between: an atomic operation makes the compiler load again what the program has as one pointer.
bool may_be_same_place(const llvm::Value& one, const llvm::Value& other);

// Whether they are at some distance from one pointer, as places of one array are.
bool may_be_of_one_object(const llvm::Value& one, const llvm::Value& other);

// What the pointer is a constant distance from, as a pointer or a number.
const llvm::Value* base_of(const llvm::Value& pointer);

// The place of a store or an atomic operation, or null.
const llvm::Value* written_place(const llvm::Instruction& instruction);

}  // namespace softgpu::simt
