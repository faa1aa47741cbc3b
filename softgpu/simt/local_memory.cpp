#include "softgpu/simt/local_memory.hpp"

#include <algorithm>
#include <cstdint>

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "softgpu/abi/marks.hpp"

namespace softgpu::simt {

using namespace llvm;

namespace {

constexpr std::uint64_t kAlignment = 64;  // of what the runtime gives

// Follows every use of a variable's address.
class Uses {
 public:
  explicit Uses(AllocaInst& variable) : layout_(variable.getDataLayout()) {
    size_ = static_cast<std::int64_t>(variable.getAllocationSize(layout_)->getFixedValue());
    pending_.push_back({&variable, 0});
  }

  // Nothing but accesses at fixed places inside the variable.
  bool stay_inside() {
    while (!pending_.empty()) {
      const Place place = pending_.pop_back_val();
      for (const Use& use : place.address->uses())
        if (!stays_inside(use, place.offset)) return false;
    }
    return true;
  }

 private:
  struct Place {
    const Value* address;
    std::int64_t offset;
  };

  bool holds(std::int64_t offset, std::uint64_t bytes) const {
    return offset >= 0 && offset <= size_ && bytes <= static_cast<std::uint64_t>(size_ - offset);
  }
  bool holds(std::int64_t offset, Type* type) const {
    return holds(offset, layout_.getTypeStoreSize(type).getFixedValue());
  }

  bool stays_inside(const Use& use, std::int64_t offset) {
    const auto* user = cast<Instruction>(use.getUser());
    if (const auto* load = dyn_cast<LoadInst>(user)) return holds(offset, load->getType());
    if (const auto* store = dyn_cast<StoreInst>(user))
      return use.getOperandNo() == StoreInst::getPointerOperandIndex() &&
             holds(offset, store->getValueOperand()->getType());
    if (const auto* gep = dyn_cast<GetElementPtrInst>(user)) return follow(*gep, offset);
    if (const auto* intrinsic = dyn_cast<IntrinsicInst>(user)) return stays_inside(*intrinsic, offset);
    return false;
  }

  bool follow(const GetElementPtrInst& gep, std::int64_t offset) {
    APInt distance(layout_.getIndexTypeSizeInBits(gep.getType()), 0);
    if (gep.getType()->isVectorTy() || !gep.accumulateConstantOffset(layout_, distance)) return false;
    pending_.push_back({&gep, offset + distance.getSExtValue()});
    return true;
  }

  bool stays_inside(const IntrinsicInst& call, std::int64_t offset) const {
    if (call.isLifetimeStartOrEnd()) return true;
    if (const auto* block = dyn_cast<MemIntrinsic>(&call)) {
      const auto* length = dyn_cast<ConstantInt>(block->getLength());
      return length && holds(offset, length->getZExtValue());
    }
    if (call.getIntrinsicID() == Intrinsic::masked_load) return holds(offset, call.getType());
    if (call.getIntrinsicID() == Intrinsic::masked_store) return holds(offset, call.getArgOperand(0)->getType());
    return false;
  }

  const DataLayout& layout_;
  std::int64_t size_;
  SmallVector<Place, 16> pending_;
};

SmallVector<AllocaInst*, 8> variables_to_move(Function& function) {
  SmallVector<AllocaInst*, 8> variables;
  for (Instruction& instruction : instructions(function))
    if (auto* variable = dyn_cast<AllocaInst>(&instruction))
      if (variable->isStaticAlloca() && variable->hasMetadata(abi::kLocalMemory) && !Uses(*variable).stay_inside())
        variables.push_back(variable);
  return variables;
}

struct Placement {
  SmallVector<std::uint64_t, 8> offsets;
  std::uint64_t bytes = 0, alignment = kAlignment;

  Placement(ArrayRef<AllocaInst*> variables, const DataLayout& layout) {
    for (const AllocaInst* variable : variables) {
      bytes = alignTo(bytes, variable->getAlign());
      offsets.push_back(bytes);
      bytes += variable->getAllocationSize(layout)->getFixedValue();
      alignment = std::max(alignment, variable->getAlign().value());
    }
  }
  // With room to align what the runtime gives.
  std::uint64_t asked_for() const { return alignTo(bytes, kAlignment) + (alignment - kAlignment); }
};

void drop_lifetimes(AllocaInst& variable) {
  for (User* user : make_early_inc_range(variable.users()))
    if (auto* intrinsic = dyn_cast<IntrinsicInst>(user); intrinsic && intrinsic->isLifetimeStartOrEnd())
      intrinsic->eraseFromParent();
}

struct Moved {
  CallInst* memory = nullptr;  // null: nothing had to be
  std::uint64_t bytes = 0;
};

// To memory that the function of the runtime gives.
Moved move(Function& function, const char* source) {
  const SmallVector<AllocaInst*, 8> variables = variables_to_move(function);
  if (variables.empty()) return {};
  const Placement placement(variables, function.getDataLayout());
  BasicBlock& entry = function.getEntryBlock();
  IRBuilder<> builder(&entry, entry.begin());
  const FunctionCallee allocate =
      function.getParent()->getOrInsertFunction(source, builder.getPtrTy(), builder.getInt64Ty());
  CallInst* memory = builder.CreateCall(allocate, {builder.getInt64(placement.asked_for())}, "local");
  memory->addRetAttr(Attribute::NoAlias);
  memory->setDoesNotThrow();
  Value* base = memory;
  if (placement.alignment > kAlignment) {
    base = builder.CreateConstGEP1_64(builder.getInt8Ty(), base, placement.alignment - kAlignment);
    base = builder.CreateIntrinsic(Intrinsic::ptrmask, {builder.getPtrTy(), builder.getInt64Ty()},
                                   {base, builder.getInt64(~(placement.alignment - 1))});
  }
  for (std::size_t i = 0; i < variables.size(); ++i) {
    drop_lifetimes(*variables[i]);
    variables[i]->replaceAllUsesWith(
        builder.CreateConstGEP1_64(builder.getInt8Ty(), base, placement.offsets[i], variables[i]->getName()));
  }
  // Not before: the builder stands in front of the first of them.
  for (AllocaInst* variable : variables) variable->eraseFromParent();
  return {memory, placement.asked_for()};
}

void at_returns(Function& function, function_ref<CallInst*(IRBuilder<>&)> emit) {
  for (BasicBlock& block : function)
    if (auto* end = dyn_cast<ReturnInst>(block.getTerminator())) {
      IRBuilder<> builder(end);
      emit(builder)->setDoesNotThrow();
    }
}

}  // namespace

void move_local_memory_of_gangs(const GangFunctions& gangs) {
  for (Function* gang : {gangs.full, gangs.partial})
    if (gang) move(*gang, "softgpu_rt_allocate_local");
}

void move_local_memory_of_waiting_function(Function& function) {
  const Moved moved = move(function, "softgpu_rt_allocate_local");
  if (!moved.memory) return;
  at_returns(function, [&](IRBuilder<>& builder) {
    const FunctionCallee release = function.getParent()->getOrInsertFunction(
        "softgpu_rt_release_local", builder.getVoidTy(), builder.getPtrTy(), builder.getInt64Ty());
    return builder.CreateCall(release, {moved.memory, builder.getInt64(moved.bytes)});
  });
}

void move_local_memory(Module& module) {
  for (Function& function : module) {
    if (function.isDeclaration()) continue;
    const Moved moved = move(function, "softgpu_rt_enter_local");
    if (!moved.memory) continue;
    at_returns(function, [&](IRBuilder<>& builder) {
      const FunctionCallee leave =
          module.getOrInsertFunction("softgpu_rt_leave_local", builder.getVoidTy(), builder.getInt64Ty());
      return builder.CreateCall(leave, {builder.getInt64(moved.bytes)});
    });
  }
}

}  // namespace softgpu::simt
