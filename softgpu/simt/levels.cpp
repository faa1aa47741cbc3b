#include "softgpu/simt/levels.hpp"

#include <algorithm>

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/CFG.h"

namespace softgpu::simt {

using namespace llvm;

Level::Level(const LoopInfo& loops, const Loop* loop, BasicBlock* root) : loops_(loops), loop_(loop) {
  number(root);
  connect();
  find_dominators();
  find_post_dominators();
}

BasicBlock* Level::representative(BasicBlock* block) const {
  const Loop* inner = loops_.getLoopFor(block);
  if (inner == loop_) return block;
  while (inner && inner->getParentLoop() != loop_) inner = inner->getParentLoop();
  return inner ? inner->getHeader() : nullptr;
}

unsigned Level::node_of(const BasicBlock* block) const {
  return index_.lookup(representative(const_cast<BasicBlock*>(block)));
}

void Level::targets_of(const BasicBlock* node, SmallVectorImpl<BasicBlock*>& targets) const {
  const Loop* inner = loops_.getLoopFor(node);
  if (inner != loop_) {
    inner->getUniqueExitBlocks(targets);
    return;
  }
  for (BasicBlock* successor : successors(const_cast<BasicBlock*>(node)))
    if (!is_contained(targets, successor)) targets.push_back(successor);
}

// Depth first, without recursion: code may be thousands of blocks deep.
void Level::number(BasicBlock* root) {
  struct Visit {
    BasicBlock* block;
    SmallVector<BasicBlock*, 4> targets;
    std::size_t next = 0;
  };
  DenseSet<const BasicBlock*> seen{root};
  std::vector<Visit> path;
  const auto enter = [&](BasicBlock* block) {
    path.push_back({block, {}, 0});
    targets_of(block, path.back().targets);
  };
  std::vector<BasicBlock*> post_order, ends;
  const auto is_inside = [&](const BasicBlock* target) {
    return !loop_ || (loop_->contains(target) && target != loop_->getHeader());
  };
  enter(root);
  while (!path.empty()) {
    Visit& visit = path.back();
    if (visit.next == visit.targets.size()) {
      post_order.push_back(visit.block);
      path.pop_back();
      continue;
    }
    BasicBlock* target = visit.targets[visit.next++];
    if (!is_inside(target)) {
      if (!is_contained(ends, target)) ends.push_back(target);
      continue;
    }
    BasicBlock* node = representative(target);
    if (seen.insert(node).second) enter(node);
  }
  for (BasicBlock* block : reverse(post_order)) {
    const Loop* inner = loops_.getLoopFor(block);
    index_[block] = size();
    nodes_.push_back({.block = block, .inner = inner == loop_ ? nullptr : inner});
  }
  inside_ = size();
  for (BasicBlock* end : ends) nodes_.push_back({.block = end, .is_end = true});
}

void Level::connect() {
  DenseMap<const BasicBlock*, unsigned> ends;
  for (unsigned i = inside_; i < size(); ++i) ends[nodes_[i].block] = i;
  for (unsigned i = 0; i < inside_; ++i) {
    SmallVector<BasicBlock*, 4> targets;
    targets_of(nodes_[i].block, targets);
    for (BasicBlock* target : targets) {
      const auto end = ends.find(target);
      const unsigned successor = end != ends.end() ? end->second : node_of(target);
      if (!is_contained(nodes_[i].successors, successor)) nodes_[i].successors.push_back(successor);
    }
  }
}

void Level::find_dominators() {
  constexpr unsigned kNone = ~0U;
  for (Node& node : nodes_) node.immediate_dominator = kNone;
  nodes_[0].immediate_dominator = 0;
  const auto meet = [&](unsigned a, unsigned b) {
    while (a != b) (a > b ? a : b) = nodes_[std::max(a, b)].immediate_dominator;
    return a;
  };
  for (unsigned i = 0; i < inside_; ++i)
    for (unsigned successor : nodes_[i].successors) {
      unsigned& dominator = nodes_[successor].immediate_dominator;
      dominator = dominator == kNone ? i : meet(dominator, i);
    }
}

void Level::find_post_dominators() {
  for (unsigned i = inside_; i < size(); ++i) nodes_[i].immediate_post_dominator = size();
  const auto above = [&](unsigned node) { return node == size() ? node : nodes_[node].immediate_post_dominator; };
  const auto meet = [&](unsigned a, unsigned b) {
    while (a != b) (a < b ? a : b) = above(std::min(a, b));
    return a;
  };
  for (unsigned i = inside_; i-- > 0;) {
    unsigned common = nodes_[i].successors.empty() ? size() : nodes_[i].successors.front();
    for (unsigned successor : nodes_[i].successors) common = meet(common, successor);
    nodes_[i].immediate_post_dominator = common;
  }
}

Levels::Levels(Function& function, const LoopInfo& loops) {
  index_[nullptr] = 0;
  levels_.push_back(std::make_unique<Level>(loops, nullptr, &function.getEntryBlock()));
  for (const Loop* loop : loops.getLoopsInPreorder()) {
    index_[loop] = static_cast<unsigned>(levels_.size());
    levels_.push_back(std::make_unique<Level>(loops, loop, loop->getHeader()));
  }
}

}  // namespace softgpu::simt
