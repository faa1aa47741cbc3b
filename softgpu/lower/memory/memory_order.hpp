// PTX's memory consistency as LLVM's atomic orderings.
//
// A cluster's threads run on one thread of the host at a time, so scopes within a block or a cluster need no fences of
// the processor; the compiler must keep the order all the same.
#pragma once

#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/AtomicOrdering.h>

#include "softgpu/ptx/ast.hpp"

namespace softgpu::lower {

// Of .relaxed, .acquire, .release, .acq_rel, .sc; `otherwise` where the instruction has none of them.
inline llvm::AtomicOrdering ordering_of(const ptx::Instruction& instruction, llvm::AtomicOrdering otherwise) {
  using ptx::Modifier;
  if (instruction.has(Modifier::sc)) return llvm::AtomicOrdering::SequentiallyConsistent;
  if (instruction.has(Modifier::acq_rel)) return llvm::AtomicOrdering::AcquireRelease;
  if (instruction.has(Modifier::acquire)) return llvm::AtomicOrdering::Acquire;
  if (instruction.has(Modifier::release)) return llvm::AtomicOrdering::Release;
  if (instruction.has(Modifier::relaxed)) return llvm::AtomicOrdering::Monotonic;
  return otherwise;
}

inline llvm::SyncScope::ID scope_of(const ptx::Instruction& instruction) {
  const bool within_cluster = instruction.has(ptx::Modifier::cta) || instruction.has(ptx::Modifier::cluster);
  return within_cluster ? llvm::SyncScope::SingleThread : llvm::SyncScope::System;
}

}  // namespace softgpu::lower
