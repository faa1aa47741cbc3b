// How many lanes a kernel's gangs have.
#include "llvm/IR/InstIterator.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Target/TargetMachine.h"
#include "softgpu/simt/divergence.hpp"
#include "softgpu/simt/marks.hpp"
#include "softgpu/simt/scalar_code.hpp"
#include "softgpu/simt/simt.hpp"

namespace softgpu::simt {

using namespace llvm;

namespace {

constexpr unsigned kWarp = 32;

bool any_mark(Function& kernel, auto&& matches) {
  for (Instruction& instruction : instructions(kernel))
    if (const auto mark = mark_of(&instruction); mark && matches(*mark, instruction)) return true;
  return false;
}

// A barrier that lanes of one warp may reach apart.
bool is_unaligned(abi::Mark mark) {
  return mark == abi::Mark::barrier_sync_unaligned || mark == abi::Mark::cluster_arrive_unaligned ||
         mark == abi::Mark::cluster_wait_unaligned;
}

unsigned vector_lanes(const TargetMachine& target) {
  return target.getMCSubtargetInfo()->checkFeatures("+avx512f") ? 16 : 8;
}

}  // namespace

unsigned choose_width(Function& kernel, TargetMachine& target) {
  prepare_scalar_code(kernel, target);
  const auto is_warp_sync = [](abi::Mark mark, Instruction&) { return mark == abi::Mark::warp_sync; };
  const auto exchanges = [&](abi::Mark mark, Instruction& instruction) {
    return abi::info(mark).kind == abi::MarkKind::warp && !is_warp_sync(mark, instruction);
  };
  if (any_mark(kernel, exchanges)) return kWarp;
  // Lanes that wait for a lane of their own gang would wait for ever if they ran in step.
  if (kernel.hasFnAttribute(kSpins)) return 1;
  const unsigned width = vector_lanes(target);
  if (any_mark(kernel, [](abi::Mark mark, Instruction&) { return is_unaligned(mark); })) {
    canonicalise_control_flow(kernel, target);
    const Divergence divergence(kernel, abi::Shape::general, width);
    const BasicBlock* entry = &kernel.getEntryBlock();
    const bool apart = any_mark(kernel, [&](abi::Mark mark, Instruction& barrier) {
      return is_unaligned(mark) && divergence.mask_leader(barrier.getParent()) != entry;
    });
    if (apart) return 1;
  }
  // What lanes exchange through memory, too, is there only when all lanes of the warp have come to the same place.
  return any_mark(kernel, is_warp_sync) ? kWarp : width;
}

}  // namespace softgpu::simt
