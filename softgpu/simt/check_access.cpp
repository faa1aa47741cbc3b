#include "softgpu/simt/check_access.hpp"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "softgpu/simt/memory_uses.hpp"

namespace softgpu::simt {

using namespace llvm;

void check_access(Function& function) {
  SmallVector<std::pair<Instruction*, MemoryUse>, 32> accesses;
  for (Instruction& instruction : instructions(function))
    for (const MemoryUse& use : memory_uses(instruction)) accesses.push_back({&instruction, use});
  for (const auto& [access, use] : accesses) {
    IRBuilder<> builder(access);
    const FunctionCallee check = function.getParent()->getOrInsertFunction(
        "softgpu_rt_check_access", builder.getVoidTy(), builder.getPtrTy(), builder.getInt32Ty(), builder.getInt32Ty());
    Value* address = use.address;
    if (use.bytes)  // a copy of nothing touches nothing
      address =
          builder.CreateSelect(builder.CreateIsNull(use.bytes), Constant::getNullValue(address->getType()), address);
    const DebugLoc& line = access->getDebugLoc();
    builder
        .CreateCall(check, {address, builder.getInt32(use.writes ? 1 : 0), builder.getInt32(line ? line.getLine() : 0)})
        ->setDoesNotThrow();
  }
}

}  // namespace softgpu::simt
