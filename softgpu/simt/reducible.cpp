#include "softgpu/simt/reducible.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LowerSwitch.h"
#include "softgpu/simt/pass_runner.hpp"

namespace softgpu::simt {

using namespace llvm;

namespace {

using BlockList = std::vector<BasicBlock*>;

bool has_several_entries_anywhere(Function& function) {
  const DominatorTree dominators(function);
  const LoopInfo loops(dominators);
  const ReversePostOrderTraversal<const Function*> blocks(&function);
  return containsIrreducibleCFG<const BasicBlock*>(blocks, loops);
}

// A branch whose ways lead to one place is no choice.
void merge_ways_to_one_place(Function& function) {
  for (BasicBlock& block : function) {
    auto* branch = dyn_cast<BranchInst>(block.getTerminator());
    if (!branch || !branch->isConditional() || branch->getSuccessor(0) != branch->getSuccessor(1)) continue;
    BasicBlock* target = branch->getSuccessor(0);
    target->removePredecessor(&block, /*KeepOneInputPHIs=*/true);
    BranchInst::Create(target, branch->getIterator())->setDebugLoc(branch->getDebugLoc());
    branch->eraseFromParent();
  }
}

// The strongly connected parts of some blocks, without the edges to one of them, by Tarjan's algorithm; without
// recursion, since code may be thousands of blocks deep. Blocks keep their order.
class ConnectedParts {
 public:
  ConnectedParts(const BlockList& blocks, const BasicBlock* without) : blocks_(blocks), nodes_(blocks.size()) {
    for (unsigned i = 0; i < blocks.size(); ++i)
      if (blocks[i] != without) index_[blocks[i]] = i;
    for (unsigned i = 0; i < blocks.size(); ++i)
      if (blocks[i] != without && !nodes_[i].order) visit(i);
  }

  // Those in which there are ways from each block to each other one.
  std::vector<BlockList> take() { return std::move(parts_); }

 private:
  struct Node {
    unsigned order = 0;   // in which it was visited, from 1
    unsigned lowest = 0;  // order of the first visited one that it leads back to
    bool is_open = false;
  };
  struct Step {
    unsigned node;
    succ_iterator next, end;
  };

  void enter(unsigned node) {
    nodes_[node] = {++visited_, visited_, true};
    open_.push_back(node);
    path_.push_back({node, succ_begin(blocks_[node]), succ_end(blocks_[node])});
  }

  void visit(unsigned root) {
    enter(root);
    while (!path_.empty()) {
      Step& step = path_.back();
      Node& node = nodes_[step.node];
      if (step.next == step.end) {
        const unsigned done = step.node;
        path_.pop_back();
        if (!path_.empty()) {
          unsigned& above = nodes_[path_.back().node].lowest;
          above = std::min(above, nodes_[done].lowest);
        }
        if (nodes_[done].lowest == nodes_[done].order) close(done);
        continue;
      }
      const auto found = index_.find(*step.next);
      ++step.next;
      if (found == index_.end()) continue;
      const Node& target = nodes_[found->second];
      if (!target.order)
        enter(found->second);
      else if (target.is_open)
        node.lowest = std::min(node.lowest, target.order);
    }
  }

  void close(unsigned first) {
    std::vector<unsigned> members;
    do {
      members.push_back(open_.back());
      nodes_[open_.back()].is_open = false;
      open_.pop_back();
    } while (members.back() != first);
    if (members.size() == 1) return;  // at most a loop by itself
    std::sort(members.begin(), members.end());
    BlockList part;
    for (const unsigned member : members) part.push_back(blocks_[member]);
    parts_.push_back(std::move(part));
  }

  const BlockList& blocks_;
  DenseMap<const BasicBlock*, unsigned> index_;
  std::vector<Node> nodes_;
  std::vector<Step> path_;
  std::vector<unsigned> open_;
  std::vector<BlockList> parts_;
  unsigned visited_ = 0;
};

// One entry in place of several: a block to which all that led to one of them leads now, with the number of the one
// that is meant, and from which comparisons of that number lead there.
//
// The phis of the entries become phis of the new block, which entries share: the n-th one of its type is for whichever
// entry is meant. A phi for each of theirs would have a value for each way to any other, which is quadratic.
class CommonEntry {
 public:
  CommonEntry(BlockList& loop, ArrayRef<BasicBlock*> entries) : loop_(loop), entries_(entries) {
    for (unsigned i = 0; i < entries.size(); ++i) number_[entries[i]] = i;
  }

  BasicBlock* make() {
    LLVMContext& context = entries_.front()->getContext();
    block_ = BasicBlock::Create(context, "entries", entries_.front()->getParent(), entries_.front());
    IRBuilder<> builder(block_);
    SetVector<BasicBlock*> origins;
    for (BasicBlock* entry : entries_) origins.insert(pred_begin(entry), pred_end(entry));
    const auto ways = static_cast<unsigned>(origins.size());
    PHINode* meant = builder.CreatePHI(builder.getInt32Ty(), ways, "entry");
    for (BasicBlock* entry : entries_) share_phis(*entry);
    for (const Shared& shared : shared_) phis_.push_back(builder.CreatePHI(shared.type, ways));
    for (BasicBlock* origin : origins) lead_here(*origin, *meant);
    for (const auto& [phi, place] : place_) {
      phis_[place]->takeName(phi);
      phi->replaceAllUsesWith(phis_[place]);
      phi->eraseFromParent();
    }
    lead_on(block_, *meant, 0, static_cast<unsigned>(entries_.size()));
    return block_;
  }

 private:
  struct Shared {
    Type* type;
    BasicBlock* user;  // the last entry that got it
  };

  // Variables should meet themselves: one that all lanes share would not be shared behind a phi with another one. What
  // a phi is made of may be a phi of an entry that was here before.
  std::optional<unsigned> place_of_the_same(const PHINode& phi) const {
    for (Value* value : phi.incoming_values())
      for (int steps = 0; steps < 8; ++steps) {
        const auto* instruction = dyn_cast<Instruction>(value);
        if (!instruction || instruction->getType() != phi.getType()) break;
        if (const auto* other = dyn_cast<PHINode>(instruction)) {
          const auto found = place_.find(const_cast<PHINode*>(other));
          if (found != place_.end()) return found->second;
          break;
        }
        if (instruction->getNumOperands() == 0) break;
        value = instruction->getOperand(isa<SelectInst>(instruction) ? 1 : 0);
      }
    return std::nullopt;
  }

  void share_phis(BasicBlock& entry) {
    SmallVector<PHINode*, 8> others;
    const auto take = [&](PHINode& phi, unsigned place) {
      shared_[place].user = &entry;
      place_[&phi] = place;
    };
    for (PHINode& phi : entry.phis()) {
      const auto place = place_of_the_same(phi);
      if (place && shared_[*place].user != &entry)
        take(phi, *place);
      else
        others.push_back(&phi);
    }
    for (PHINode* phi : others) {
      const auto is_free = [&](const Shared& s) { return s.type == phi->getType() && s.user != &entry; };
      const auto found = std::find_if(shared_.begin(), shared_.end(), is_free);
      const auto place = static_cast<unsigned>(found - shared_.begin());
      if (found == shared_.end()) shared_.push_back({phi->getType(), nullptr});
      take(*phi, place);
    }
  }

  // What is to be known here by who comes from `origin` and goes to `target`: the number, and values for the phis.
  // Nothing is known if it goes elsewhere.
  SmallVector<Value*, 8> values_for(BasicBlock* target, const BasicBlock& origin) const {
    const auto entry = number_.find(target);
    SmallVector<Value*, 8> values(1 + phis_.size(), nullptr);
    if (entry == number_.end()) return values;
    values[0] = ConstantInt::get(Type::getInt32Ty(target->getContext()), entry->second);
    for (PHINode& phi : target->phis()) values[1 + place_.lookup(&phi)] = phi.getIncomingValueForBlock(&origin);
    return values;
  }

  void lead_here(BasicBlock& origin, PHINode& meant) {
    auto* branch = cast<BranchInst>(origin.getTerminator());
    SmallVector<Value*, 8> values = values_for(branch->getSuccessor(0), origin);
    if (branch->isConditional()) {
      const SmallVector<Value*, 8> otherwise = values_for(branch->getSuccessor(1), origin);
      IRBuilder<> builder(branch);
      for (auto [value, other] : zip(values, otherwise)) {
        if (value && other && value != other) value = builder.CreateSelect(branch->getCondition(), value, other);
        if (!value) value = other;
      }
    }
    meant.addIncoming(values[0], &origin);
    for (auto [phi, value] : zip(phis_, drop_begin(values)))
      phi->addIncoming(value ? value : PoisonValue::get(phi->getType()), &origin);
    redirect(*branch);
  }

  void redirect(BranchInst& branch) {
    for (unsigned i = 0; i < branch.getNumSuccessors(); ++i)
      if (number_.contains(branch.getSuccessor(i))) branch.setSuccessor(i, block_);
    if (branch.isUnconditional() || branch.getSuccessor(0) != branch.getSuccessor(1)) return;
    BranchInst::Create(block_, branch.getIterator())->setDebugLoc(branch.getDebugLoc());
    branch.eraseFromParent();
  }

  // By halves.
  void lead_on(BasicBlock* from, PHINode& meant, unsigned first, unsigned end) {
    loop_.push_back(from);
    const unsigned middle = first + (end - first) / 2;
    const auto target = [&](unsigned begin, unsigned behind) {
      if (behind - begin == 1) return entries_[begin];
      BasicBlock* block = BasicBlock::Create(from->getContext(), "entries", from->getParent(), entries_[begin]);
      lead_on(block, meant, begin, behind);
      return block;
    };
    IRBuilder<> builder(from);
    Value* is_before = builder.CreateICmpULT(&meant, builder.getInt32(middle));
    builder.CreateCondBr(is_before, target(first, middle), target(middle, end));
  }

  BlockList& loop_;  // gets the new blocks
  ArrayRef<BasicBlock*> entries_;
  BasicBlock* block_ = nullptr;
  DenseMap<const BasicBlock*, unsigned> number_;
  std::vector<Shared> shared_;
  MapVector<PHINode*, unsigned> place_;  // in what is shared
  std::vector<PHINode*> phis_;           // that are shared
};

// Blocks to which something outside of a loop leads.
BlockList entries_of(const BlockList& loop) {
  const DenseSet<const BasicBlock*> inside(loop.begin(), loop.end());
  BlockList entries;
  for (BasicBlock* block : loop)
    if (any_of(predecessors(block), [&](const BasicBlock* origin) { return !inside.contains(origin); }))
      entries.push_back(block);
  return entries;
}

// From the outside in: what is a loop inside of another one shows when nothing leads to that one's entry any more.
//
// Definitions still dominate their uses. No block of a loop dominates an entry, and one outside that dominates an entry
// dominates all of them, since there are ways from each to each other: so the new ways, from any origin to any entry,
// go around nothing that the old ones did not go around.
void give_loops_one_entry(Function& function) {
  struct Region {
    BlockList blocks;
    const BasicBlock* entry;
  };
  const ReversePostOrderTraversal<Function*> order(&function);
  std::vector<Region> regions{{BlockList(order.begin(), order.end()), nullptr}};
  while (!regions.empty()) {
    const Region region = std::move(regions.back());
    regions.pop_back();
    for (BlockList& loop : ConnectedParts(region.blocks, region.entry).take()) {
      const BlockList entries = entries_of(loop);
      const BasicBlock* entry = entries.size() == 1 ? entries.front() : CommonEntry(loop, entries).make();
      regions.push_back({std::move(loop), entry});
    }
  }
}

}  // namespace

void make_reducible(Function& function, TargetMachine& target) {
  FunctionPassManager switches;
  switches.addPass(LowerSwitchPass());
  PassRunner(target).run(switches, function);
  if (!has_several_entries_anywhere(function)) return;
  removeUnreachableBlocks(function);
  merge_ways_to_one_place(function);
  // An entry that is a loop by itself stays one if it has a preheader, which is the entry then.
  FunctionPassManager preheaders;
  preheaders.addPass(LoopSimplifyPass());
  PassRunner(target).run(preheaders, function);
  give_loops_one_entry(function);
}

}  // namespace softgpu::simt
