// Whether two pointers lead to one place in memory.
#pragma once

#include "llvm/IR/Instructions.h"

namespace softgpu::simt {

// Whether they are computed alike. What is loaded twice from one place counts as alike, although others may have
// written there between: an atomic operation makes the compiler load again what the program has as one pointer.
bool may_be_same_place(const llvm::Value& one, const llvm::Value& other);

// Whether the load may find what a store or an atomic operation writes, if each object has pointers of its own: both
// places are at some distance from one pointer, as those of one array are, and not apart for certain.
bool may_find(const llvm::LoadInst& load, const llvm::Instruction& write);

// What the pointer is a constant distance from, as a pointer or a number.
const llvm::Value* base_of(const llvm::Value& pointer);

// The place of a store or an atomic operation, or null.
const llvm::Value* written_place(const llvm::Instruction& instruction);

}  // namespace softgpu::simt
