#include "softgpu/simt/check_access.hpp"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
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

}  // namespace

void check_access(Function& function) {
  SmallVector<std::pair<Instruction*, Value*>, 32> accesses;
  for (Instruction& instruction : instructions(function))
    if (Value* address = address_of(instruction); address && !is_own(address))
      accesses.push_back({&instruction, address});
  for (const auto& [access, address] : accesses) {
    IRBuilder<> builder(access);
    const FunctionCallee check = function.getParent()->getOrInsertFunction(
        "softgpu_rt_check_access", builder.getVoidTy(), builder.getPtrTy(), builder.getInt32Ty());
    const DebugLoc& line = access->getDebugLoc();
    builder.CreateCall(check, {address, builder.getInt32(line ? line.getLine() : 0)})->setDoesNotThrow();
  }
}

}  // namespace softgpu::simt
