#include "softgpu/simt/same_place.hpp"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"

namespace softgpu::simt {

using namespace llvm;

namespace {

// Addresses are made in fewer steps.
constexpr unsigned kDeepest = 8;

bool computed_alike(const Value& one, const Value& other, unsigned depth) {
  if (&one == &other) return true;
  const auto *a = dyn_cast<Instruction>(&one), *b = dyn_cast<Instruction>(&other);
  if (!a || !b || depth == kDeepest || !a->isSameOperationAs(b)) return false;
  if (!isa<LoadInst, GetElementPtrInst, CastInst, BinaryOperator, FreezeInst>(a)) return false;
  for (const auto& [x, y] : zip(a->operands(), b->operands()))
    if (!computed_alike(*x, *y, depth + 1)) return false;
  return true;
}

// Pointers that the address is made of. What is multiplied or widened is an index.
SmallVector<const Value*, 4> objects_of(const Value& address) {
  SmallPtrSet<const Value*, 8> seen;
  SmallVector<const Value*, 4> objects;
  SmallVector<const Value*, 8> work{&address};
  while (!work.empty()) {
    const Value* part = work.pop_back_val();
    if (!seen.insert(part).second) continue;
    const auto* step = dyn_cast<Instruction>(part);
    const bool is_sum = step && (isa<PHINode>(step) || step->getOpcode() == Instruction::Add ||
                                 step->getOpcode() == Instruction::Or || step->getOpcode() == Instruction::Sub);
    if (step && isa<GetElementPtrInst, IntToPtrInst, PtrToIntInst, FreezeInst>(step))
      work.push_back(step->getOperand(0));
    else if (const auto* select = dyn_cast_or_null<SelectInst>(step))
      work.append({select->getTrueValue(), select->getFalseValue()});
    else if (is_sum)
      work.append(step->value_op_begin(), step->value_op_end());
    else if (!isa<ConstantInt, ZExtInst, SExtInst>(part) && !(step && step->isBinaryOp()))
      objects.push_back(part);
  }
  return objects;
}

// Whether they are at constant distances from one pointer, as variables in shared memory are, and don't overlap.
bool are_apart(const Instruction& write, const LoadInst& load) {
  const DataLayout& layout = load.getDataLayout();
  const Value *one = written_place(write), *other = load.getPointerOperand();
  if (one->getType() != other->getType()) return false;
  const unsigned bits = layout.getIndexTypeSizeInBits(one->getType());
  APInt begin(bits, 0), other_begin(bits, 0);
  const Value* base = one->stripAndAccumulateConstantOffsets(layout, begin, /*AllowNonInbounds=*/true);
  if (base != other->stripAndAccumulateConstantOffsets(layout, other_begin, /*AllowNonInbounds=*/true)) return false;
  const Value* written = isa<StoreInst>(write) ? write.getOperand(0) : write.getOperand(1);
  const std::int64_t distance = (other_begin - begin).getSExtValue();
  return distance >= static_cast<std::int64_t>(layout.getTypeStoreSize(written->getType())) ||
         -distance >= static_cast<std::int64_t>(layout.getTypeStoreSize(load.getType()));
}

}  // namespace

bool may_find(const LoadInst& load, const Instruction& write) {
  if (are_apart(write, load)) return false;
  const auto others = objects_of(*load.getPointerOperand());
  return any_of(objects_of(*written_place(write)), [&](const Value* object) {
    return any_of(others, [&](const Value* same) { return may_be_same_place(*object, *same); });
  });
}

bool may_be_same_place(const Value& one, const Value& other) { return computed_alike(one, other, 0); }

const Value* base_of(const Value& pointer) {
  const Value* base = &pointer;
  while (const auto* step = dyn_cast<Instruction>(base)) {
    const auto* gep = dyn_cast<GetElementPtrInst>(step);
    const bool adds_constant = step->getOpcode() == Instruction::Add && isa<ConstantInt>(step->getOperand(1));
    if (!isa<CastInst>(step) && !adds_constant && !(gep && gep->hasAllConstantIndices())) break;
    base = step->getOperand(0);
  }
  return base;
}

const Value* written_place(const Instruction& instruction) {
  if (const auto* store = dyn_cast<StoreInst>(&instruction)) return store->getPointerOperand();
  if (const auto* rmw = dyn_cast<AtomicRMWInst>(&instruction)) return rmw->getPointerOperand();
  if (const auto* swap = dyn_cast<AtomicCmpXchgInst>(&instruction)) return swap->getPointerOperand();
  return nullptr;
}

}  // namespace softgpu::simt
