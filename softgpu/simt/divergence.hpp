// Which values, branches and loops of one thread's code differ between the lanes of a gang.
//
// The algorithm, with the argument that it finds every difference, is in docs/design/simt.md.
//
// Expects loops in simplified and closed SSA form (LoopSimplify, LCSSA), no switches, and one return.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "softgpu/abi/kernel.hpp"
#include "softgpu/abi/marks.hpp"
#include "softgpu/simt/levels.hpp"
#include "softgpu/simt/shape.hpp"

namespace softgpu::simt {

class Divergence {
 public:
  Divergence(llvm::Function&, abi::BlockShape block_shape, unsigned width);

  Shape shape(const llvm::Value*) const;
  // Lanes that run this block's terminator may go different ways.
  bool is_divergent(const llvm::BasicBlock* block) const { return divergent_branches_.contains(block); }
  // Lanes may arrive over different edges in one pass: phis have to be blended.
  bool is_join(const llvm::BasicBlock* block) const { return joins_.contains(block); }
  // Lanes may leave in different iterations, or through different exits.
  bool is_divergent(const llvm::Loop* loop) const { return divergent_loops_.contains(loop); }
  // The block whose lanes are, whenever `block` runs, exactly those of `block`; itself when there is no such one.
  const llvm::BasicBlock* mask_leader(const llvm::BasicBlock* block) const { return leaders_.lookup(block); }
  // All lanes of the block's dominator reach the block, by whatever way; else they all reach it or none does.
  bool gathers_all(const llvm::BasicBlock* block) const { return gathers_.contains(block); }

  const llvm::LoopInfo& loops() const { return loops_; }
  const Levels& levels() const { return levels_; }

 private:
  // Control flow (divergence.cpp).
  void run();
  void propagate_shapes();
  bool find_divergent_branches();
  void separate(const Level&, unsigned node);
  void leave_at_different_times(const llvm::Loop*);
  void find_leaders();
  void find_leaders(const Level&, llvm::DenseMap<const llvm::Loop*, const llvm::BasicBlock*>& entering);

  // Values (shapes.cpp).
  Shape evaluate(const llvm::Instruction&) const;
  Shape evaluate_phi(const llvm::PHINode&) const;
  Shape evaluate_binary(const llvm::BinaryOperator&) const;
  Shape evaluate_comparison(const llvm::ICmpInst&) const;
  Shape evaluate_extension(const llvm::Value* narrow, bool is_signed) const;
  Shape evaluate_address(const llvm::Instruction&) const;
  Shape evaluate_call(const llvm::CallInst&) const;
  Shape evaluate_mark(const llvm::CallInst&, abi::Mark) const;
  Shape all_uniform(const llvm::User&) const;
  bool stays_in_its_interval(const Shape&, unsigned bits) const;

  llvm::Function& function_;
  abi::BlockShape block_shape_;
  unsigned width_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  Levels levels_;
  llvm::DenseMap<const llvm::Value*, Shape> shapes_;
  llvm::DenseSet<const llvm::BasicBlock*> divergent_branches_, joins_, gathers_;
  // Blocks, and loops by their headers, that only some of the lanes of their dominator may get to.
  llvm::DenseSet<const llvm::BasicBlock*> separated_;
  llvm::DenseSet<const llvm::Loop*> divergent_loops_;
  llvm::DenseMap<const llvm::BasicBlock*, const llvm::BasicBlock*> leaders_;
};

// Each lane has its own copy of a thread's stack memory; the copies lie one behind the other, each aligned.
std::uint64_t bytes_per_lane(const llvm::AllocaInst&);

}  // namespace softgpu::simt
