#include "softgpu/simt/layout.hpp"

#include <algorithm>
#include <set>

#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"

namespace softgpu::simt {

using namespace llvm;

BlockSet blocks_that_lead_to(const BlockSet& goals) {
  BlockSet found(goals);
  SmallVector<const BasicBlock*, 16> work(goals.begin(), goals.end());
  while (!work.empty())
    for (const BasicBlock* predecessor : predecessors(work.pop_back_val()))
      if (found.insert(predecessor).second) work.push_back(predecessor);
  return found;
}

Layout::Layout(Function& function, const Divergence& divergence, const BlockSet& suspending)
    : function_(function), divergence_(divergence) {
  const BlockSet late = blocks_that_lead_to(suspending);
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
  order_level(divergence.levels().of(nullptr), late, order);
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

// The nodes of a level in reverse post-order, those from which lanes may still get to a suspension after the others.
std::vector<unsigned> ranks_of(const Level& level, const BlockSet& late) {
  const auto& nodes = level.nodes();
  struct Visit {
    unsigned node;
    SmallVector<unsigned, 2> targets;  // what is visited first comes last
  };
  std::vector<bool> seen(level.inside());
  std::vector<Visit> path;
  const auto enter = [&](unsigned node) {
    seen[node] = true;
    Visit visit{node, {}};
    for (const bool is_late : {false, true})
      for (unsigned successor : reverse(nodes[node].successors))
        if (!nodes[successor].is_end && late.contains(nodes[successor].block) == is_late)
          visit.targets.push_back(successor);
    path.push_back(std::move(visit));
  };
  std::vector<unsigned> ranks(level.inside());
  unsigned rank = level.inside();
  enter(0);
  while (!path.empty()) {
    Visit& visit = path.back();
    if (visit.targets.empty()) {
      ranks[visit.node] = --rank;
      path.pop_back();
      continue;
    }
    const unsigned target = visit.targets.pop_back_val();
    if (!seen[target]) enter(target);
  }
  return ranks;
}

}  // namespace

// What a node dominates follows it at once.
void Layout::order_level(const Level& level, const BlockSet& late, std::vector<BasicBlock*>& order) const {
  const std::vector<unsigned> ranks = ranks_of(level, late);
  std::vector<std::vector<unsigned>> dominated(level.inside());
  for (unsigned i = 1; i < level.inside(); ++i) dominated[level.nodes()[i].immediate_dominator].push_back(i);
  std::vector<unsigned> path{0};
  while (!path.empty()) {
    const unsigned at = path.back();
    path.pop_back();
    const Level::Node& node = level.nodes()[at];
    if (node.inner)
      order_level(divergence_.levels().of(node.inner), late, order);
    else
      order.push_back(node.block);
    std::sort(dominated[at].begin(), dominated[at].end(), [&](unsigned a, unsigned b) { return ranks[a] > ranks[b]; });
    path.insert(path.end(), dominated[at].begin(), dominated[at].end());
  }
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
    for (unsigned waiting : pending[i]) plan.pending.push_back(plans_[waiting].block);
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
