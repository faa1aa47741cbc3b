#include "softgpu/simt/slot_promotion.hpp"

#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

namespace softgpu::simt {

using namespace llvm;

namespace {

bool is_written_once_and_then_read(const AllocaInst& slot, const DominatorTree& dominators) {
  const auto is_store = [](const User* user) { return isa<StoreInst>(user); };
  const auto store = find_if(slot.users(), is_store);
  if (store == slot.user_end() || count_if(slot.users(), is_store) > 1) return store == slot.user_end();
  return all_of(slot.users(), [&](const User* user) {
    return user == *store || dominators.dominates(cast<Instruction>(*store), cast<Instruction>(user));
  });
}

void promote(AllocaInst& slot) {
  SmallVector<Instruction*, 16> accesses;
  for (User* user : slot.users()) accesses.push_back(cast<Instruction>(user));
  SSAUpdater registers;
  LoadAndStorePromoter(accesses, registers, slot.getName()).run(accesses);
  slot.eraseFromParent();
}

}  // namespace

void promote_slots(Function& gang) {
  const DominatorTree dominators(gang);
  SmallVector<AllocaInst*, 32> slots;
  for (Instruction& instruction : gang.getEntryBlock()) {
    auto* slot = dyn_cast<AllocaInst>(&instruction);
    if (slot && isAllocaPromotable(slot) && !is_written_once_and_then_read(*slot, dominators)) slots.push_back(slot);
  }
  for (AllocaInst* slot : slots) promote(*slot);
}

}  // namespace softgpu::simt
