// A function's blocks as nested levels: the blocks of one loop (or of the function, outside all loops) with each loop
// directly inside it as one node. Without its back edge a level has no cycle, so what can happen in one iteration is
// read off in one walk.
//
// Expects reducible control flow.
#pragma once

#include <memory>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"

namespace softgpu::simt {

class Level {
 public:
  // What a level is made of, in topological order: its blocks, its inner loops (named by their headers) and, behind
  // them, its ends: the blocks outside that it leads to and, for a loop, the header, where the next iteration begins.
  struct Node {
    llvm::BasicBlock* block = nullptr;
    const llvm::Loop* inner = nullptr;  // the loop that this node stands for
    bool is_end = false;
    llvm::SmallVector<unsigned, 2> successors;
    // Nodes; of an end the level's size(), which stands for whatever comes behind the level.
    unsigned immediate_post_dominator = 0;
    unsigned immediate_dominator = 0;
  };

  Level(const llvm::LoopInfo&, const llvm::Loop* loop, llvm::BasicBlock* root);

  const llvm::Loop* loop() const { return loop_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  unsigned size() const { return static_cast<unsigned>(nodes_.size()); }
  // How many of the nodes are not ends.
  unsigned inside() const { return inside_; }
  // The node that a block of the level, or of a loop inside it, belongs to.
  unsigned node_of(const llvm::BasicBlock* block) const;

 private:
  void number(llvm::BasicBlock* root);
  void connect();
  void find_dominators();
  void find_post_dominators();
  void targets_of(const llvm::BasicBlock* node, llvm::SmallVectorImpl<llvm::BasicBlock*>&) const;
  // The block that names the node of `block`; null for a block outside the level.
  llvm::BasicBlock* representative(llvm::BasicBlock* block) const;

  const llvm::LoopInfo& loops_;
  const llvm::Loop* loop_;
  std::vector<Node> nodes_;
  unsigned inside_ = 0;
  llvm::DenseMap<const llvm::BasicBlock*, unsigned> index_;
};

// All levels of a function.
class Levels {
 public:
  Levels(llvm::Function&, const llvm::LoopInfo&);
  const Level& of(const llvm::Loop* loop) const { return *levels_[index_.lookup(loop)]; }
  // Outer ones before inner ones.
  const std::vector<std::unique_ptr<Level>>& all() const { return levels_; }

 private:
  std::vector<std::unique_ptr<Level>> levels_;
  llvm::DenseMap<const llvm::Loop*, unsigned> index_;
};

}  // namespace softgpu::simt
