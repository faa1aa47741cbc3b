#include "softgpu/simt/same_place.hpp"

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

}  // namespace

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
