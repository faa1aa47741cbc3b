// Loads, stores and atomics of a gang. What counts is how the address differs between lanes: the same in all,
// adjacent elements, a small stride, or anything.
#pragma once

#include "llvm/IR/Instructions.h"
#include "softgpu/simt/emission.hpp"
#include "softgpu/simt/widen_plain.hpp"

namespace softgpu::simt {

class MemoryWidener : Emitter {
 public:
  MemoryWidener(Emission& emission, PlainWidener& plain) : Emitter(emission), plain_(plain) {}

  void emit_alloca(llvm::AllocaInst&);
  void emit_load(llvm::LoadInst&);
  void emit_store(llvm::StoreInst&);
  void emit_atomic(llvm::Instruction&);

 private:
  bool is_contiguous(const Shape&, llvm::Type*) const;
  // The distance between lanes in elements, if it is small enough to load all that lie between them; else 0.
  unsigned small_step(const Shape& address, llvm::Type*) const;
  llvm::Value* load_lanes(llvm::LoadInst&);
  llvm::Value* load_contiguous(llvm::LoadInst&);
  llvm::Value* load_and_pick(llvm::LoadInst&, unsigned step);
  llvm::Value* gather(llvm::LoadInst&, llvm::Value* addresses);
  // Emits `fast` where the condition holds and else `slow`.
  llvm::Value* either(llvm::LoadInst&, llvm::Value* condition, llvm::function_ref<llvm::Value*()> fast,
                      llvm::function_ref<llvm::Value*()> slow);
  void store_to_one_place(llvm::StoreInst&);
  void store_contiguous(llvm::Value* value, llvm::Value* address, llvm::Align);
  bool emit_reduced_atomic(llvm::AtomicRMWInst&);

  PlainWidener& plain_;
};

}  // namespace softgpu::simt
