#include "softgpu/simt/same_place.hpp"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
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

}  // namespace

bool may_be_of_one_object(const Value& one, const Value& other) {
  const auto others = objects_of(other);
  return any_of(objects_of(one), [&](const Value* object) {
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
