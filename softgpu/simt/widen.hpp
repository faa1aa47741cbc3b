// Turns one thread's code into a gang's: every value becomes a vector with one element per lane, unless the
// divergence analysis has shown that lane 0's value is enough.
//
// This class does control flow, in the order of Layout; what crosses blocks is in GangValues.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "softgpu/simt/divergence.hpp"
#include "softgpu/simt/gang_values.hpp"
#include "softgpu/simt/layout.hpp"
#include "softgpu/simt/mask.hpp"
#include "softgpu/simt/thread_values.hpp"

namespace softgpu::simt {

class Widener {
 public:
  struct Options {
    abi::BlockShape shape = abi::BlockShape::general;
    unsigned width = 8;
    bool full = true;  // every lane holds a thread
  };
  // Fills `gang`, an empty function of type GangArguments::type().
  Widener(llvm::Function& thread, llvm::Function& gang, const Divergence&, const Layout&, const Options&);
  void run();

 private:
  struct Edge {
    llvm::BasicBlock* target;
    Mask mask;
    llvm::SmallVector<std::pair<llvm::PHINode*, GangValue>, 4> phis;
  };

  // Set-up and control flow (widen.cpp).
  void make_entry();
  void make_slots();
  void emit_block(const BlockPlan&);
  void emit_instruction(llvm::Instruction&);
  void emit_terminator(const BlockPlan&);
  void emit_divergent_branch(const BlockPlan&, llvm::BranchInst&);
  void emit_uniform_branch(const BlockPlan&, llvm::BranchInst&);
  Edge edge_to(llvm::BasicBlock* target, const Mask&);
  void take(const Edge&);
  void jump(llvm::BasicBlock* target);
  Mask read_mask(llvm::AllocaInst* slot);
  Mask mask_of(const llvm::BasicBlock* owner);

  // Plain instructions (widen_plain.cpp).
  Shape shape(const llvm::Value* value) const { return values_.shape(value); }
  llvm::Type* wide(llvm::Type* type) const { return values_.wide(type); }
  void emit_at_lane_0(llvm::Instruction&);
  llvm::Value* combine_guards(llvm::Instruction&);
  llvm::Value* combine_deviations(llvm::Instruction&, const GangValue&);
  llvm::Value* widen_operation(llvm::Instruction&);

  // Memory (widen_memory.cpp).
  void emit_alloca(llvm::AllocaInst&);
  void emit_load(llvm::LoadInst&);
  void emit_store(llvm::StoreInst&);
  void emit_atomic(llvm::Instruction&);
  bool emit_reduced_atomic(llvm::AtomicRMWInst&);
  void store_contiguous(llvm::Value* value, llvm::Value* address, llvm::Align);
  llvm::Value* load_contiguous(llvm::Type*, llvm::Value* address, llvm::LoadInst& like);
  bool is_contiguous(const Shape&, llvm::Type*) const;
  llvm::Value* load_strided(llvm::LoadInst&);

  // Calls (widen_calls.cpp) and the warp (warp.cpp).
  void emit_call(llvm::CallInst&);
  void emit_intrinsic(llvm::IntrinsicInst&);
  void emit_mark(llvm::CallInst&, abi::Mark);
  void emit_lane_by_lane(llvm::Instruction&);
  void emit_barrier(llvm::CallInst&, abi::Mark);
  void emit_warp(llvm::CallInst&, abi::Mark);
  llvm::Value* shuffle(llvm::CallInst&, abi::Mark);
  llvm::Value* vote(llvm::CallInst&, abi::Mark);
  llvm::Value* match(llvm::CallInst&);
  llvm::Value* match_all(llvm::CallInst&);
  llvm::Value* reduce(llvm::CallInst&, abi::Mark);
  llvm::Value* permute(llvm::Value* vector, llvm::Value* lanes);

  llvm::Function& thread_;
  llvm::Function& gang_;
  const Divergence& divergence_;
  const Layout& layout_;
  Options options_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> builder_, entry_builder_;
  GangValues values_;
  GangArguments arguments_;
  ThreadValues thread_values_;

  llvm::DenseMap<const llvm::BasicBlock*, llvm::BasicBlock*> starts_;
  llvm::DenseMap<const llvm::BasicBlock*, llvm::AllocaInst*> arriving_, running_;  // masks of blocks that own one
  llvm::DenseMap<const llvm::BasicBlock*, llvm::AllocaInst*> gone_;  // lanes that have passed one of Layout::ways_out()
  llvm::BasicBlock* source_ = nullptr;                               // the thread's block being emitted
  Mask entry_mask_;
  Mask mask_;  // of the block being emitted
};

}  // namespace softgpu::simt
