#include "softgpu/simt/divergence.hpp"

#include <set>

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SmallSet.h"

namespace softgpu::simt {

using namespace llvm;

Divergence::Divergence(Function& function, abi::BlockShape block_shape, unsigned width)
    : function_(function),
      block_shape_(block_shape),
      width_(width),
      dominators_(function),
      loops_(dominators_),
      levels_(function, loops_) {
  run();
}

// What is known only grows: more branches are divergent, more blocks are joins, fewer values are alike.
void Divergence::run() {
  do propagate_shapes();
  while (find_divergent_branches());
  find_leaders();
}

void Divergence::propagate_shapes() {
  ReversePostOrderTraversal<Function*> order(&function_);
  for (bool changed = true; changed;) {
    changed = false;
    for (BasicBlock* block : order)
      for (Instruction& instruction : *block) {
        if (instruction.getType()->isVoidTy()) continue;
        const Shape shape = Shape::join(shapes_.lookup(&instruction), evaluate(instruction));
        Shape& known = shapes_[&instruction];
        if (shape == known) continue;
        known = shape;
        changed = true;
      }
  }
}

bool Divergence::find_divergent_branches() {
  bool changed = false;
  for (const BasicBlock& block : function_) {
    const auto* branch = dyn_cast<BranchInst>(block.getTerminator());
    if (!branch || branch->isUnconditional() || divergent_branches_.contains(&block)) continue;
    const Shape condition = shape(branch->getCondition());
    if (condition.kind == Shape::Kind::unknown || condition.is_uniform()) continue;
    divergent_branches_.insert(&block);
    const Level& level = levels_.of(loops_.getLoopFor(&block));
    separate(level, level.node_of(&block));
    changed = true;
  }
  return changed;
}

// Lanes that were together at `from` go on to different successors of it. Follows them, each labelled by the place
// where it was last on its own, until all have met again. Where two labels meet is a join.
void Divergence::separate(const Level& level, unsigned from) {
  const auto& nodes = level.nodes();
  const auto is_dominated_by = [&](unsigned node, unsigned dominator) {
    while (node > dominator) node = nodes[node].immediate_dominator;
    return node == dominator;
  };
  const unsigned meeting = nodes[from].immediate_post_dominator;
  DenseMap<unsigned, unsigned> labels;
  std::set<unsigned> work;
  for (unsigned successor : nodes[from].successors) {
    labels[successor] = successor;
    work.insert(successor);
  }
  SmallSet<unsigned, 4> labels_at_ends;
  while (!work.empty()) {
    const unsigned at = *work.begin();
    work.erase(work.begin());
    if (at == meeting) continue;
    const unsigned label = labels.lookup(at);
    const Level::Node& node = nodes[at];
    if (node.is_end) {
      labels_at_ends.insert(label);
      continue;
    }
    // Above a dominator that `from` comes before, the lanes that matter here are still together.
    if (is_dominated_by(from, node.immediate_dominator)) separated_.insert(node.block);
    for (unsigned successor : node.successors) {
      const auto [known, is_new] = labels.try_emplace(successor, label);
      if (is_new) work.insert(successor);
      if (known->second == label) continue;
      known->second = successor;
      joins_.insert(nodes[successor].block);
    }
  }
  if (labels_at_ends.size() > 1 && level.loop()) leave_at_different_times(level.loop());
}

// Some lanes leave the loop where others stay, or leave elsewhere. They meet only where all are through: at an exit,
// and where ways from several exits come together.
void Divergence::leave_at_different_times(const Loop* loop) {
  if (!divergent_loops_.insert(loop).second) return;
  SmallVector<BasicBlock*, 8> exits;
  loop->getUniqueExitBlocks(exits);
  joins_.insert(exits.begin(), exits.end());
  const Level& around = levels_.of(loop->getParentLoop());
  separate(around, around.node_of(loop->getHeader()));
}

void Divergence::find_leaders() {
  DenseMap<const Loop*, const BasicBlock*> entering;
  for (const auto& level : levels_.all()) find_leaders(*level, entering);
}

// `entering`: with whose lanes a loop is entered; that of loops directly inside the level is added.
void Divergence::find_leaders(const Level& level, DenseMap<const Loop*, const BasicBlock*>& entering) {
  const auto& nodes = level.nodes();
  const BasicBlock* root = nodes[0].block;
  const bool starts_anew = !level.loop() || divergent_loops_.contains(level.loop());
  leaders_[root] = starts_anew ? root : entering.lookup(level.loop());
  for (unsigned i = 1; i < level.inside(); ++i) {
    const Level::Node& node = nodes[i];
    const Level::Node& dominator = nodes[node.immediate_dominator];
    unsigned behind = dominator.immediate_post_dominator;
    while (behind < i) behind = nodes[behind].immediate_post_dominator;
    if (behind == i) gathers_.insert(node.block);
    const bool together = behind == i || !separated_.contains(node.block);
    const BasicBlock* above = dominator.inner ? entering.lookup(dominator.inner) : leaders_.lookup(dominator.block);
    const BasicBlock* leader = together ? above : node.block;
    if (node.inner)
      entering[node.inner] = leader;
    else
      leaders_[node.block] = leader;
  }
}

}  // namespace softgpu::simt
