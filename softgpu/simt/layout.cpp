#include "softgpu/simt/layout.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"

namespace softgpu::simt {

using namespace llvm;

namespace {

DenseSet<const BasicBlock*> blocks_that_lead_to(const DenseSet<const BasicBlock*>& goals) {
  DenseSet<const BasicBlock*> found(goals);
  SmallVector<const BasicBlock*, 16> work(goals.begin(), goals.end());
  while (!work.empty())
    for (const BasicBlock* predecessor : predecessors(work.pop_back_val()))
      if (found.insert(predecessor).second) work.push_back(predecessor);
  return found;
}

}  // namespace

Layout::Layout(Function& function, const Divergence& divergence, const DenseSet<const BasicBlock*>& suspending)
    : function_(function), divergence_(divergence) {
  const Blocks late = blocks_that_lead_to(suspending);
  for (BasicBlock& block : function) {
    const bool is_way_out =
        !late.contains(&block) && any_of(predecessors(&block), [&](auto* from) { return late.contains(from); });
    const bool reached_apart = divergence.is_join(&block) ||
                               any_of(predecessors(&block), [&](auto* from) { return divergence.is_divergent(from); });
    if (!is_way_out || !reached_apart) continue;
    must_own_mask_.insert(&block);
    ways_out_.push_back(&block);
  }
  std::vector<BasicBlock*> order;
  order_level(nullptr, &function.getEntryBlock(), late, order);
  for (unsigned i = 0; i < order.size(); ++i) index_[order[i]] = i;
  while (!plan_jumps()) {
  }
}

bool Layout::is_back_edge(const Divergence& divergence, const BasicBlock* block, const BasicBlock* successor) {
  const Loop* loop = divergence.loops().getLoopFor(successor);
  return loop && loop->getHeader() == successor && loop->contains(block);
}

const BasicBlock* Layout::mask_owner(const BasicBlock* block) const {
  while (!of(block).owns_mask && block != &function_.getEntryBlock()) {
    const BasicBlock* leader = divergence_.mask_leader(block);
    if (leader == block) return block;
    block = leader;
  }
  return block;
}

// ---- Order -------------------------------------------------------------------------------------

namespace {

// The blocks of one loop (or of the function, outside loops), with each loop directly inside it as one node,
// named by its header.
class Level {
 public:
  Level(const Divergence& divergence, const Loop* loop, BasicBlock* root, const DenseSet<const BasicBlock*>& late)
      : divergence_(divergence), loop_(loop), late_(late) {
    number(root);
    std::reverse(post_order_.begin(), post_order_.end());
    for (unsigned i = 0; i < post_order_.size(); ++i) rank_[post_order_[i]] = i;
    for (BasicBlock* node : post_order_)
      if (node != root) children_[dominator(node)].push_back(node);
  }

  const Loop* inner_loop(const BasicBlock* node) const {
    const Loop* inner = divergence_.loops().getLoopFor(node);
    return inner == loop_ ? nullptr : inner;
  }

  // Nodes in an order in which what a node dominates follows it at once.
  void visit(BasicBlock* node, const std::function<void(BasicBlock*)>& emit) {
    emit(node);
    auto& dominated = children_[node];
    std::sort(dominated.begin(), dominated.end(), [&](auto* a, auto* b) { return rank_[a] < rank_[b]; });
    const auto copy = dominated;  // the recursion may move the map's entries
    for (BasicBlock* child : copy) visit(child, emit);
  }

 private:
  BasicBlock* node_of(BasicBlock* block) const {
    const Loop* inner = divergence_.loops().getLoopFor(block);
    if (inner == loop_) return block;
    while (inner && inner->getParentLoop() != loop_) inner = inner->getParentLoop();
    return inner ? inner->getHeader() : nullptr;  // null: outside this level
  }

  void targets_of(BasicBlock* node, SmallVectorImpl<BasicBlock*>& targets) const {
    if (const Loop* inner = inner_loop(node)) {
      inner->getExitBlocks(targets);
    } else {
      targets.append(succ_begin(node), succ_end(node));
    }
  }

  void number(BasicBlock* root) {
    seen_.insert(root);
    SmallVector<BasicBlock*, 8> targets;
    targets_of(root, targets);
    // What is numbered first comes last.
    for (const bool late : {true, false}) {
      for (BasicBlock* target : targets) {
        if (late_.contains(target) != late) continue;
        if (loop_ && (!loop_->contains(target) || target == loop_->getHeader())) continue;
        BasicBlock* node = node_of(target);
        if (node && !seen_.contains(node)) number(node);
      }
    }
    post_order_.push_back(root);
  }

  BasicBlock* dominator(BasicBlock* node) const {
    return node_of(divergence_.dominators().getNode(node)->getIDom()->getBlock());
  }

  const Divergence& divergence_;
  const Loop* loop_;
  const DenseSet<const BasicBlock*>& late_;
  DenseSet<const BasicBlock*> seen_;
  std::vector<BasicBlock*> post_order_;
  DenseMap<const BasicBlock*, unsigned> rank_;
  DenseMap<const BasicBlock*, std::vector<BasicBlock*>> children_;
};

}  // namespace

void Layout::order_level(const Loop* level, BasicBlock* root, const Blocks& late,
                         std::vector<BasicBlock*>& order) const {
  Level nodes(divergence_, level, root, late);
  nodes.visit(root, [&](BasicBlock* node) {
    if (const Loop* inner = nodes.inner_loop(node)) {
      order_level(inner, node, late, order);
    } else {
      order.push_back(node);
    }
  });
}

// ---- Jumps -------------------------------------------------------------------------------------

// Walks the blocks in order and notes what is pending where. Returns false when a block has turned out to need a
// mask of its own, in which case the plan has to be made again.
bool Layout::plan_jumps() {
  using Pending = std::set<unsigned>;
  std::vector<Pending> pending(index_.size());
  plans_.assign(index_.size(), {});
  for (const auto& [block, i] : index_) plans_[i].block = const_cast<BasicBlock*>(block);

  bool stable = true;
  const auto jump = [&](Pending work) {
    if (work.empty()) return static_cast<BasicBlock*>(nullptr);
    const unsigned first = *work.begin();
    work.erase(work.begin());
    pending[first].insert(work.begin(), work.end());
    return plans_[first].block;
  };

  for (unsigned i = 0; i < plans_.size(); ++i) {
    BlockPlan& plan = plans_[i];
    BasicBlock* block = plan.block;
    plan.owns_mask = block != &function_.getEntryBlock() &&
                     (divergence_.mask_leader(block) == block || must_own_mask_.contains(block));
    const Loop* loop = divergence_.loops().getLoopFor(block);
    const bool heads_divergent_loop = loop && loop->getHeader() == block && divergence_.is_divergent(loop);
    if (plan.owns_mask && !heads_divergent_loop) plan.when_empty = jump(pending[i]);
    if (heads_divergent_loop) {
      // Lanes that left in an earlier iteration are still to run.
      SmallVector<BasicBlock*, 4> exits;
      loop->getExitBlocks(exits);
      for (BasicBlock* exit : exits) pending[i].insert(index_.lookup(exit));
    }
    const bool divergent = divergence_.is_divergent(block);
    Pending work = pending[i];
    for (BasicBlock* successor : successors(block)) {
      if (is_back_edge(divergence_, block, successor)) {
        if (!divergent) plan.next.push_back(successor);
        continue;
      }
      const unsigned target = index_.lookup(successor);
      if (divergent) {
        work.insert(target);
        continue;
      }
      Pending own = pending[i];
      own.insert(target);
      plan.next.push_back(jump(own));
      // Put off behind other blocks, it can be reached when no lane wants it.
      const bool put_off = plan.next.back() != successor;
      const bool sure = divergence_.gathers_all(successor) || divergence_.mask_leader(successor) == successor;
      if (put_off && !sure && must_own_mask_.insert(successor).second) stable = false;
    }
    if (divergent) plan.next.push_back(jump(work));
  }
  return stable;
}

}  // namespace softgpu::simt
