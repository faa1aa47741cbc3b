// Turns one thread's code into a gang's: every value becomes a vector with one element per lane, unless the
// divergence analysis has shown that lane 0's value is enough.
//
// Widener does control flow, in the order of Layout, and calls; classes of their own do plain instructions, memory and
// the warp. They share an Emission.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "softgpu/simt/divergence.hpp"
#include "softgpu/simt/emission.hpp"
#include "softgpu/simt/layout.hpp"
#include "softgpu/simt/thread_values.hpp"
#include "softgpu/simt/warp.hpp"
#include "softgpu/simt/widen_memory.hpp"
#include "softgpu/simt/widen_plain.hpp"

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
  void find_fresh_blocks();
  void forget_arrivals(const llvm::BasicBlock*);
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

  // Calls and barriers (widen_calls.cpp).
  void emit_call(llvm::CallInst&);
  void emit_intrinsic(llvm::IntrinsicInst&);
  void emit_mark(llvm::CallInst&, abi::Mark);
  void emit_address(llvm::CallInst& original);
  void emit_sleep(llvm::CallInst& original);
  void emit_barrier(llvm::CallInst&, abi::Mark);

  Shape shape(const llvm::Value* value) const { return values_.shape(value); }
  llvm::Type* wide(llvm::Type* type) const { return values_.wide(type); }

  llvm::Function& thread_;
  llvm::Function& gang_;
  const Divergence& divergence_;
  const Layout& layout_;
  Options options_;
  llvm::LLVMContext& context_;
  Emission emission_;
  llvm::IRBuilder<>& builder_;
  GangValues& values_;
  Mask& mask_;
  PlainWidener plain_;
  MemoryWidener memory_;
  WarpWidener warp_;
  llvm::IRBuilder<> entry_builder_;
  GangArguments arguments_;
  ThreadValues thread_values_;

  llvm::DenseMap<const llvm::BasicBlock*, llvm::BasicBlock*> starts_;
  llvm::DenseMap<const llvm::BasicBlock*, llvm::AllocaInst*> arriving_, running_;  // masks of blocks that own one
  llvm::DenseMap<const llvm::BasicBlock*, llvm::AllocaInst*> gone_;  // lanes that have passed one of Layout::ways_out()
  // By block, those at which no lane waits when it starts.
  llvm::DenseMap<const llvm::BasicBlock*, llvm::SmallVector<const llvm::BasicBlock*, 2>> fresh_;
  llvm::BasicBlock* source_ = nullptr;  // the thread's block being emitted
  Mask entry_mask_;
};

}  // namespace softgpu::simt
