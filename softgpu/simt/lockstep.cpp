#include "softgpu/simt/lockstep.hpp"

#include "llvm/IR/InstIterator.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "softgpu/simt/marks.hpp"

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

// The members are the lanes that are here: asked for by the same lanes.
bool names_lanes_here(const CallInst& operation, const Layout& layout) {
  if (operation.arg_empty()) return true;
  const Value* members = operation.getArgOperand(operation.arg_size() - 1);
  return mark_of(members) == Mark::activemask &&
         layout.mask_owner(cast<Instruction>(members)->getParent()) == layout.mask_owner(operation.getParent());
}

}  // namespace

WidthFacts width_facts(Function& kernel, bool spins) {
  const bool exchanges = any_mark(kernel, [](Mark mark, CallInst&) { return abi::info(mark).kind == MarkKind::warp; });
  return {exchanges || exchanges_through_volatile_memory(kernel), spins};
}

unsigned gang_width(const WidthFacts& facts, unsigned wanted, const TargetMachine& target) {
  if (facts.spins) return 1;
  if (facts.by_warps) return wanted == 0 || wanted == kWarp ? kWarp : 1;
  if (wanted != 0) return wanted;
  return target.getMCSubtargetInfo()->checkFeatures("+avx512f") ? 16 : 8;
}

BlockSet suspending_blocks(Function& kernel, unsigned width) {
  return blocks_with(kernel, [&](Mark mark) {
    const MarkWaiting waiting = abi::info(mark).waiting;
    return waiting == MarkWaiting::gangs || (width == 1 && waiting == MarkWaiting::threads);
  });
}

bool meets_together(Function& kernel, const Divergence&, const Layout& layout) {
  const BlockSet to_warp = blocks_that_lead_to(
      blocks_with(kernel, [](Mark mark) { return abi::info(mark).waiting == MarkWaiting::threads; }));
  const BlockSet to_barrier =
      blocks_that_lead_to(blocks_with(kernel, [](Mark mark) { return abi::info(mark).waiting == MarkWaiting::gangs; }));
  const auto others_may_come = [&](const CallInst& call, const BlockSet& leading) {
    return any_of(layout.of(call.getParent()).pending,
                  [&](const BasicBlock* block) { return leading.contains(block); });
  };
  return !any_mark(kernel, [&](Mark mark, CallInst& call) {
    if (abi::info(mark).waiting == MarkWaiting::threads)
      return !names_lanes_here(call, layout) && others_may_come(call, to_warp);
    return is_unaligned(mark) && others_may_come(call, to_barrier);
  });
}

}  // namespace softgpu::simt
