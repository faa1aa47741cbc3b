// The order in which a gang runs the blocks of one thread's code, when lanes disagree on branches.
//
// Partial linearisation: blocks are laid out so that every edge but a loop's back edge goes forward, loops are
// contiguous, and so are the blocks that a block dominates. A block ends in a jump to the first of what is still
// to run: its own successors and what earlier divergent branches left pending. A branch that all lanes agree on
// stays a branch.
#pragma once

#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "softgpu/simt/divergence.hpp"

namespace softgpu::simt {

struct BlockPlan {
  llvm::BasicBlock* block = nullptr;
  // The block keeps a mask of its own, collected from the edges that lead to it; else it has its leader's.
  bool owns_mask = false;
  // Where to go on when the mask is empty; null when it can't be.
  llvm::BasicBlock* when_empty = nullptr;
  // Where to go after the block: one entry when the terminator is divergent (or has one successor), else one for
  // each successor. For a divergent latch: where to go when no lane stays in the loop.
  llvm::SmallVector<llvm::BasicBlock*, 2> next;
  // Where lanes that don't run the block may wait meanwhile.
  llvm::SmallVector<const llvm::BasicBlock*, 4> pending;
};

using BlockSet = llvm::DenseSet<const llvm::BasicBlock*>;

// The blocks from which one of these can be reached, themselves among them.
BlockSet blocks_that_lead_to(const BlockSet&);

class Layout {
 public:
  // `suspending`: blocks in which a gang waits for others. Lanes that no longer get to one run first, so that they
  // don't hold the rest up.
  Layout(llvm::Function&, const Divergence&, const BlockSet& suspending);
  const std::vector<BlockPlan>& blocks() const { return plans_; }
  const BlockPlan& of(const llvm::BasicBlock* block) const { return plans_[index_.lookup(block)]; }
  // The block whose mask `block` runs with.
  const llvm::BasicBlock* mask_owner(const llvm::BasicBlock* block) const;
  // Blocks that lanes reach, apart from each other, on the way from where they may still have to wait for others to
  // where they no longer do. Lanes that have arrived at one, or are through, are not waited for.
  llvm::ArrayRef<const llvm::BasicBlock*> ways_out() const { return ways_out_; }
  static bool is_back_edge(const Divergence&, const llvm::BasicBlock* block, const llvm::BasicBlock* successor);

 private:
  void order_level(const Level&, const BlockSet& late, std::vector<llvm::BasicBlock*>& order) const;
  bool plan_jumps();

  llvm::Function& function_;
  const Divergence& divergence_;
  std::vector<BlockPlan> plans_;
  llvm::DenseMap<const llvm::BasicBlock*, unsigned> index_;
  BlockSet must_own_mask_;
  std::vector<const llvm::BasicBlock*> ways_out_;
};

}  // namespace softgpu::simt
