#include "softgpu/simt/memory_uses.hpp"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "softgpu/simt/marks.hpp"

namespace softgpu::simt {

using namespace llvm;

namespace {

Value* address_of(Instruction& instruction) {
  if (Value* address = getLoadStorePointerOperand(&instruction)) return address;
  if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) return update->getPointerOperand();
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) return exchange->getPointerOperand();
  return nullptr;
}

// The stack, shared memory and parameters.
bool is_own(const Value* address) {
  const Value* object = getUnderlyingObject(address);
  return isa<AllocaInst>(object) || mark_of(object);
}

SmallVector<MemoryUse, 2> all_uses(Instruction& instruction) {
  if (Value* address = address_of(instruction)) return {{address, nullptr, !isa<LoadInst>(instruction)}};
  if (auto* block = dyn_cast<MemIntrinsic>(&instruction)) {
    SmallVector<MemoryUse, 2> uses{{block->getRawDest(), block->getLength(), true}};
    if (auto* transfer = dyn_cast<MemTransferInst>(block))
      uses.push_back({transfer->getRawSource(), block->getLength(), false});
    return uses;
  }
  auto* call = dyn_cast<CallInst>(&instruction);
  const Function* callee = call ? call->getCalledFunction() : nullptr;
  if (!callee) return {};
  if (callee->getName() == "softgpu_rt_copy")  // destination, source, bytes
    return {{call->getArgOperand(0), call->getArgOperand(2), true},
            {call->getArgOperand(1), call->getArgOperand(2), false}};
  if (callee->getName() == "softgpu_rt_copy_and_fill")  // destination, source, bytes of the source and of both
    return {{call->getArgOperand(0), call->getArgOperand(3), true},
            {call->getArgOperand(1), call->getArgOperand(2), false}};
  return {};
}

}  // namespace

SmallVector<MemoryUse, 2> memory_uses(Instruction& instruction) {
  SmallVector<MemoryUse, 2> uses = all_uses(instruction);
  erase_if(uses, [](const MemoryUse& use) { return is_own(use.address); });
  return uses;
}

}  // namespace softgpu::simt
