#include "softgpu/simt/counting.hpp"

#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "softgpu/simt/marks.hpp"
#include "softgpu/simt/same_place.hpp"

namespace softgpu::simt {

using namespace llvm;

namespace {

using Deciding = SmallPtrSetImpl<const Instruction*>;

// How many bits a size that is never zero has at most.
std::optional<unsigned> bits_of_size(abi::Mark mark) {
  switch (mark) {
    case abi::Mark::ntid_x:
    case abi::Mark::ntid_y:
    case abi::Mark::ntid_z: return 11;  // a block has up to 1024 threads
    case abi::Mark::nctaid_x: return 31;
    case abi::Mark::nctaid_y:
    case abi::Mark::nctaid_z: return 16;
    case abi::Mark::activemask: return 32;
    default: return std::nullopt;
  }
}

std::optional<unsigned> together(std::optional<unsigned> a, std::optional<unsigned> b, unsigned width) {
  if (!a || !b || *a + *b > width) return std::nullopt;
  return *a + *b;
}

// How many bits the value has at most, if it is never zero.
std::optional<unsigned> bits_if_never_zero(const Value& value, unsigned depth = 0) {
  constexpr unsigned kDeepest = 6;
  const unsigned width = value.getType()->getScalarSizeInBits();
  if (const auto* constant = dyn_cast<ConstantInt>(&value))
    return constant->isZero() ? std::nullopt : std::optional(constant->getValue().getActiveBits());
  const auto* instruction = dyn_cast<Instruction>(&value);
  if (!instruction) return std::nullopt;
  if (const auto mark = mark_of(instruction)) return bits_of_size(*mark);
  if (isKnownNonZero(&value, SimplifyQuery(instruction->getDataLayout()))) return width;
  if (depth == kDeepest) return std::nullopt;
  const auto operand = [&](unsigned i) { return bits_if_never_zero(*instruction->getOperand(i), depth + 1); };
  switch (instruction->getOpcode()) {
    case Instruction::ZExt:
    case Instruction::Freeze: return operand(0);
    case Instruction::Mul: return together(operand(0), operand(1), width);
    case Instruction::Shl:
      if (const auto* by = dyn_cast<ConstantInt>(instruction->getOperand(1)); by && by->getValue().ult(width))
        return together(operand(0), static_cast<unsigned>(by->getZExtValue()), width);
      return std::nullopt;
    case Instruction::Sub: {  // the negative
      const auto* zero = dyn_cast<ConstantInt>(instruction->getOperand(0));
      return zero && zero->isZero() && operand(1) ? std::optional(width) : std::nullopt;
    }
    case Instruction::Call: {
      const auto* intrinsic = dyn_cast<IntrinsicInst>(instruction);
      if (!intrinsic || intrinsic->getIntrinsicID() != Intrinsic::ctpop || !operand(0)) return std::nullopt;
      return Log2_32(width) + 1;
    }
    default: return std::nullopt;
  }
}

// Something else in the loop may take back what an atomic operation has added there.
bool is_undone(const AtomicRMWInst& rmw, const Loop& loop) {
  const auto takes_back = [&](const Instruction& other) {
    const Value* place = &other == &rmw ? nullptr : written_place(other);
    return place && may_be_same_place(*place, *rmw.getPointerOperand());
  };
  return any_of(loop.blocks(), [&](const BasicBlock* block) { return any_of(*block, takes_back); });
}

bool asks_for_an_order(const Instruction& instruction) {
  const auto* compare = dyn_cast<ICmpInst>(&instruction);
  return compare && compare->isRelational();
}

// The loads that the loop's end depends on and that may find what the store has written.
SmallVector<const LoadInst*, 4> loads_of(const StoreInst& store, const Deciding& deciding) {
  SmallVector<const LoadInst*, 4> loads;
  for (const Instruction* instruction : deciding) {
    const auto* load = dyn_cast<LoadInst>(instruction);
    if (load && may_find(*load, store)) loads.push_back(load);
  }
  return loads;
}

// Whether a value made of the count starts again only when that has been through all numbers there are.
bool still_counts(const AtomicRMWInst& rmw, const Instruction& instruction) {
  const auto* addend = dyn_cast<ConstantInt>(rmw.getValOperand());
  if (isa<PHINode, FreezeInst, ZExtInst, SExtInst, GetElementPtrInst, IntToPtrInst>(instruction)) return true;
  if (isa<TruncInst>(instruction))
    return rmw.getOperation() == AtomicRMWInst::UIncWrap ||
           (addend && addend->getValue().countr_zero() < instruction.getType()->getScalarSizeInBits());
  if (instruction.getOpcode() == Instruction::Shl) return isa<ConstantInt>(instruction.getOperand(1));
  return instruction.getOpcode() == Instruction::Add;
}

// Whether all that decides asks for nothing but an order of the count. Adds the stores that it goes into.
bool is_only_compared(const Value& start, const AtomicRMWInst& rmw, const Loop& loop, const Deciding& deciding,
                      SmallVectorImpl<const StoreInst*>& stores) {
  SmallPtrSet<const Value*, 8> seen;
  SmallVector<const Value*, 8> work{&start};
  while (!work.empty()) {
    const Value* count = work.pop_back_val();
    if (!seen.insert(count).second) continue;
    for (const User* user : count->users()) {
      const auto* instruction = cast<Instruction>(user);
      if (const auto* store = dyn_cast<StoreInst>(instruction); store && store->getValueOperand() == count)
        stores.push_back(store);
      if (!deciding.contains(instruction)) continue;
      const bool counts = still_counts(rmw, *instruction);
      if (!counts && !asks_for_an_order(*instruction)) return false;
      // What else goes in may not run away from the count.
      const bool is_way = isa<PHINode>(instruction);
      if (!is_way && any_of(instruction->operands(), [&](const Use& other) {
            return other.get() != count && changes_by_itself(*other.get(), loop);
          }))
        return false;
      if (counts) work.push_back(instruction);
    }
  }
  return true;
}

// A count that starts again only when it has been through all numbers there are. It comes back from memory in work
// queues, where one thread counts for all of its block.
bool passes_its_limits(const AtomicRMWInst& rmw, const Loop& loop, const Deciding& deciding,
                       const Deciding& deciding_by_objects) {
  SmallVector<const StoreInst*, 4> stores;
  if (!is_only_compared(rmw, rmw, loop, deciding, stores)) return false;
  SmallPtrSet<const LoadInst*, 4> seen;
  while (!stores.empty()) {
    for (const LoadInst* load : loads_of(*stores.pop_back_val(), deciding_by_objects))
      if (seen.insert(load).second && !is_only_compared(*load, rmw, loop, deciding_by_objects, stores)) return false;
  }
  return true;
}

// The count goes round in 0…bound: it has to be on both sides of each limit.
bool has_limits_within_bound(const AtomicRMWInst& rmw, const Deciding& deciding) {
  const Value* bound = rmw.getValOperand();
  const auto is_within = [&](const ICmpInst& compare) {
    const bool is_left = compare.getOperand(0) == &rmw;
    const Value* limit = compare.getOperand(is_left ? 1 : 0);
    const CmpInst::Predicate asked = is_left ? compare.getPredicate() : compare.getSwappedPredicate();
    if (limit == bound && (asked == CmpInst::ICMP_ULT || asked == CmpInst::ICMP_UGE)) return true;
    const auto *last = dyn_cast<ConstantInt>(bound), *constant = dyn_cast<ConstantInt>(limit);
    if (!last || !constant) return false;
    const ConstantRange counts = ConstantRange::getNonEmpty(APInt::getZero(last->getBitWidth()), last->getValue() + 1);
    const ConstantRange yes = ConstantRange::makeExactICmpRegion(asked, constant->getValue());
    return !yes.contains(counts) && !yes.inverse().contains(counts);
  };
  return all_of(rmw.users(), [&](const User* user) {
    const auto* instruction = cast<Instruction>(user);
    if (const auto* store = dyn_cast<StoreInst>(instruction); store && !loads_of(*store, deciding).empty())
      return false;
    return !deciding.contains(instruction) ||
           (asks_for_an_order(*instruction) && is_within(*cast<ICmpInst>(instruction)));
  });
}

}  // namespace

bool changes_by_itself(const Value& value, const Loop& loop) {
  SmallPtrSet<const Value*, 8> seen;
  SmallVector<const Value*, 8> work{&value};
  while (!work.empty()) {
    const auto* instruction = dyn_cast<Instruction>(work.pop_back_val());
    if (!instruction || !loop.contains(instruction) || !seen.insert(instruction).second) continue;
    if (isa<PHINode>(instruction)) return true;
    if (!isa<LoadInst>(instruction)) work.append(instruction->value_op_begin(), instruction->value_op_end());
  }
  return false;
}

bool counts_to_an_end(const AtomicRMWInst& rmw, const Loop& loop, const Deciding& deciding,
                      const Deciding& deciding_by_objects) {
  if (is_undone(rmw, loop)) return false;
  const auto* addend = dyn_cast<ConstantInt>(rmw.getValOperand());
  switch (rmw.getOperation()) {
    case AtomicRMWInst::Add:
    case AtomicRMWInst::Sub:
      return bits_if_never_zero(*rmw.getValOperand()) && passes_its_limits(rmw, loop, deciding, deciding_by_objects);
    case AtomicRMWInst::UIncWrap:
      if (addend && addend->isMinusOne()) return passes_its_limits(rmw, loop, deciding, deciding_by_objects);
      return has_limits_within_bound(rmw, deciding);
    case AtomicRMWInst::UDecWrap: return has_limits_within_bound(rmw, deciding);
    default: return false;  // a sum of floating-point numbers may stay as it is
  }
}

}  // namespace softgpu::simt
