#include "softgpu/simt/address_remainder.hpp"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Support/KnownBits.h"

namespace softgpu::simt {

using namespace llvm;

namespace {

// Longer ways are rare, and this keeps the work linear. Code that is never reached may also go in circles.
constexpr unsigned kMostSteps = 64;

}  // namespace

RemainderFinder::RemainderFinder(const DataLayout& layout, const LoopInfo& loops, std::uint64_t alignment)
    : layout_(layout), loops_(loops), alignment_(alignment), zeros_(static_cast<unsigned>(Log2_64(alignment))) {}

std::optional<Remainder> RemainderFinder::remainder(Value* address, const Instruction& user) {
  if (is_multiple(address)) return std::nullopt;
  const Remainder found = walk({address, 0}, user.getParent());
  if (found.addend == 0 && is_multiple(found.value)) return std::nullopt;
  return found;
}

// The furthest that `user` can use.
Remainder RemainderFinder::walk(Remainder from, const BasicBlock* user) {
  Remainder furthest = from;
  for (unsigned steps = 0; steps < kMostSteps; ++steps) {
    const auto next = step(from.value);
    if (!next) break;
    from = {next->value, (from.addend + next->addend) % alignment_};
    if (is_usable(from.value, user)) furthest = from;
  }
  return furthest;
}

// What a loop computes is used behind it only through its closing phis.
bool RemainderFinder::is_usable(const Value* value, const BasicBlock* user) const {
  const auto* instruction = dyn_cast<Instruction>(value);
  const Loop* loop = instruction ? loops_.getLoopFor(instruction->getParent()) : nullptr;
  return !loop || loop->contains(user);
}

bool RemainderFinder::is_multiple(Value* value) const {
  return computeKnownBits(value, layout_).countMinTrailingZeros() >= zeros_;
}

std::optional<Remainder> RemainderFinder::step(Value* value) {
  const auto known = steps_.find(value);
  if (known != steps_.end()) return known->second;
  steps_[value] = std::nullopt;  // for phis that come back to it
  const auto next = compute_step(value);
  return steps_[value] = next;
}

std::optional<Remainder> RemainderFinder::compute_step(Value* value) {
  if (auto* phi = dyn_cast<PHINode>(value)) return step_of_phi(*phi);
  if (auto* address = dyn_cast<GEPOperator>(value)) return step_of_address(*address);
  auto* instruction = dyn_cast<Instruction>(value);
  if (!instruction) return std::nullopt;
  switch (instruction->getOpcode()) {
    // Low bits are low bits.
    case Instruction::IntToPtr:
    case Instruction::PtrToInt:
    case Instruction::ZExt:
    case Instruction::SExt:
    case Instruction::Trunc: {
      Value* operand = instruction->getOperand(0);
      const bool has_the_bits = operand->getType()->isPointerTy() || operand->getType()->getIntegerBitWidth() >= zeros_;
      return has_the_bits ? std::optional(Remainder{operand, 0}) : std::nullopt;
    }
    case Instruction::Add:
    case Instruction::Sub:
    case Instruction::Or: return step_of_sum(*instruction);
    default: return std::nullopt;
  }
}

std::optional<Remainder> RemainderFinder::step_of_sum(Instruction& sum) {
  Value *left = sum.getOperand(0), *right = sum.getOperand(1);
  if (auto* disjoint = dyn_cast<PossiblyDisjointInst>(&sum); disjoint && !disjoint->isDisjoint()) return std::nullopt;
  const bool minus = sum.getOpcode() == Instruction::Sub;
  if (const auto* constant = dyn_cast<ConstantInt>(right)) {
    const std::uint64_t addend = constant->getValue().zextOrTrunc(64).getZExtValue();
    return Remainder{left, (minus ? 0 - addend : addend) % alignment_};
  }
  if (is_multiple(right)) return Remainder{left, 0};
  if (!minus && is_multiple(left)) return Remainder{right, 0};
  return std::nullopt;
}

// The base or, if that is a multiple, the only index that is none.
std::optional<Remainder> RemainderFinder::step_of_address(GEPOperator& address) {
  MapVector<Value*, APInt> indices;
  APInt constant(64, 0);
  if (!address.collectOffset(layout_, 64, indices, constant)) return std::nullopt;
  const std::uint64_t addend = constant.getZExtValue() % alignment_;
  Value* left = nullptr;
  for (const auto& [index, scale] : indices) {
    if (scale.countr_zero() + computeKnownBits(index, layout_).countMinTrailingZeros() >= zeros_) continue;
    if (left || !scale.isOne() || index->getType()->getIntegerBitWidth() < zeros_) return std::nullopt;
    left = index;
  }
  if (!left) return Remainder{address.getPointerOperand(), addend};
  if (is_multiple(address.getPointerOperand())) return Remainder{left, addend};
  return std::nullopt;
}

// A value that goes up or down by multiples in a loop, or comes from one place by several ways.
std::optional<Remainder> RemainderFinder::step_of_phi(PHINode& phi) {
  std::optional<Remainder> start;
  for (Value* incoming : phi.incoming_values()) {
    const Remainder origin = walk({incoming, 0}, phi.getParent());
    if (origin == Remainder{&phi, 0}) continue;
    if (start && !(*start == origin)) return std::nullopt;
    start = origin;
  }
  return start;
}

}  // namespace softgpu::simt
