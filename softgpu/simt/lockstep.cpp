#include "softgpu/simt/lockstep.hpp"

#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "softgpu/simt/marks.hpp"
#include "softgpu/simt/waiting_function.hpp"

namespace softgpu::simt {

using namespace llvm;
using abi::Mark;
using abi::MarkKind;
using abi::MarkWaiting;

namespace {

constexpr unsigned kWarp = 32;

bool any_mark(Function& kernel, auto&& matches) {
  for (Instruction& instruction : instructions(kernel))
    if (const auto mark = mark_of(&instruction); mark && matches(*mark, cast<CallInst>(instruction))) return true;
  return false;
}

BlockSet blocks_with(Function& kernel, auto&& matches) {
  BlockSet blocks;
  for (Instruction& instruction : instructions(kernel))
    if (const auto mark = mark_of(&instruction); mark && matches(*mark)) blocks.insert(instruction.getParent());
  return blocks;
}

// Code from before warps could fall apart: lanes read from volatile shared memory what others have just written to it.
bool exchanges_through_volatile_memory(Function& kernel) {
  bool reads = false, writes = false;
  for (Instruction& instruction : instructions(kernel)) {
    if (const auto* load = dyn_cast<LoadInst>(&instruction)) reads |= load->isVolatile();
    if (const auto* store = dyn_cast<StoreInst>(&instruction)) writes |= store->isVolatile();
  }
  return reads && writes && any_mark(kernel, [](Mark mark, CallInst&) { return mark == Mark::shared; });
}

// A barrier that lanes of one warp may reach apart.
bool is_unaligned(Mark mark) {
  switch (mark) {
    case Mark::barrier_sync_unaligned:
    case Mark::barrier_arrive_unaligned:
    case Mark::barrier_red_and_unaligned:
    case Mark::barrier_red_or_unaligned:
    case Mark::barrier_red_popc_unaligned:
    case Mark::cluster_arrive_unaligned:
    case Mark::cluster_wait_unaligned: return true;
    default: return false;
  }
}

// The lanes that run `block` are those that run `before` and have a true `condition` there.
bool is_true_side(const BasicBlock* block, const BasicBlock* before, const Value* condition, const Layout& layout) {
  const BasicBlock* owner = layout.mask_owner(block);
  const BasicBlock* branching = owner->getSinglePredecessor();
  const auto* branch = branching ? dyn_cast<BranchInst>(branching->getTerminator()) : nullptr;
  return branch && branch->isConditional() && branch->getCondition() == condition && branch->getSuccessor(0) == owner &&
         branch->getSuccessor(1) != owner && layout.mask_owner(branching) == layout.mask_owner(before);
}

// The members are lanes that are here: what activemask gave them, or a ballot on what has led them here.
bool names_lanes_here(const CallInst& operation, const Layout& layout) {
  if (operation.arg_empty()) return true;
  const auto* members = dyn_cast<CallInst>(operation.getArgOperand(operation.arg_size() - 1));
  const auto mark = members ? mark_of(members) : std::nullopt;
  if (mark == Mark::activemask)
    return layout.mask_owner(members->getParent()) == layout.mask_owner(operation.getParent());
  return mark == Mark::vote_ballot &&
         is_true_side(operation.getParent(), members->getParent(), members->getArgOperand(0), layout);
}

// What lanes do from the start of a block until they wait for the whole gang.
class Writes {
 public:
  bool reachable_from(const BasicBlock* start) {
    SmallVector<const BasicBlock*, 8> work{start};
    BlockSet seen{start};
    while (!work.empty()) {
      const BasicBlock* block = work.pop_back_val();
      const What what = first_in(block);
      if (what == What::write) return true;
      if (what == What::barrier) continue;
      for (const BasicBlock* successor : successors(block))
        if (seen.insert(successor).second) work.push_back(successor);
    }
    return false;
  }

 private:
  enum class What : std::uint8_t { nothing, write, barrier };
  static What first_in(const BasicBlock* block) {
    for (const Instruction& instruction : *block) {
      if (const auto mark = mark_of(&instruction)) {
        if (abi::info(*mark).kind == MarkKind::block)
          return is_arrival(*mark) || lets_some_go_on(cast<CallInst>(instruction), *mark) ? What::write : What::barrier;
      } else if (instruction.mayWriteToMemory() && !isa<FenceInst>(instruction) && !is_fresh_load(instruction)) {
        return What::write;
      }
    }
    return What::nothing;
  }
  static bool is_arrival(Mark mark) { return mark == Mark::barrier_arrive || mark == Mark::cluster_arrive; }
  // A barrier that warps may enter in pieces may let these lanes go on without the others, unless it is for all
  // threads.
  static bool lets_some_go_on(const CallInst& barrier, Mark mark) {
    if (!is_unaligned(mark)) return false;
    const auto* threads = barrier.arg_size() > 1 ? dyn_cast<ConstantInt>(barrier.getArgOperand(1)) : nullptr;
    return !threads || !threads->isZero();
  }
  // To LLVM, loads that are ordered with others write.
  static bool is_fresh_load(const Instruction& instruction) { return isa<LoadInst>(instruction); }
};

}  // namespace

unsigned gang_width(Function& kernel, unsigned wanted, const TargetMachine& target) {
  if (calls_waiting_functions(kernel)) return 1;
  const bool by_warps = any_mark(kernel, [](Mark mark, CallInst&) { return abi::info(mark).kind == MarkKind::warp; }) ||
                        exchanges_through_volatile_memory(kernel);
  if (by_warps) return wanted == 0 || wanted == kWarp ? kWarp : 1;
  if (wanted != 0) return wanted;
  return target.getMCSubtargetInfo()->checkFeatures("+avx512f") ? 16 : 8;
}

BlockSet suspending_blocks(Function& kernel, unsigned width) {
  return blocks_with(kernel, [&](Mark mark) {
    const MarkWaiting waiting = abi::info(mark).waiting;
    return waiting == MarkWaiting::gangs || (width == 1 && waiting == MarkWaiting::threads);
  });
}

bool may_run_in_step(Function& kernel, const Layout& layout) {
  const BlockSet to_warp = blocks_that_lead_to(
      blocks_with(kernel, [](Mark mark) { return abi::info(mark).waiting == MarkWaiting::threads; }));
  const BlockSet to_barrier =
      blocks_that_lead_to(blocks_with(kernel, [](Mark mark) { return abi::info(mark).kind == MarkKind::block; }));
  Writes writes;
  return !any_mark(kernel, [&](Mark mark, CallInst& call) {
    const auto waits_elsewhere = [&](auto&& matters) { return any_of(layout.of(call.getParent()).pending, matters); };
    if (mark == Mark::spin)
      return waits_elsewhere([&](const BasicBlock* block) { return writes.reachable_from(block); });
    if (abi::info(mark).waiting == MarkWaiting::threads)
      return !names_lanes_here(call, layout) &&
             waits_elsewhere([&](const BasicBlock* block) { return to_warp.contains(block); });
    return is_unaligned(mark) && waits_elsewhere([&](const BasicBlock* block) { return to_barrier.contains(block); });
  });
}

}  // namespace softgpu::simt
