#include "softgpu/simt/divergence.hpp"

#include <bit>
#include <stdexcept>

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/MathExtras.h"
#include "softgpu/simt/marks.hpp"
#include "softgpu/simt/thread_values.hpp"

namespace softgpu::simt {

using namespace llvm;

namespace {

std::int64_t wrap_to_width(std::int64_t stride, const Type* type) {
  const unsigned bits = type->isPointerTy() ? 64 : type->getIntegerBitWidth();
  return bits >= 64 ? stride : SignExtend64(static_cast<std::uint64_t>(stride), bits);
}

unsigned constant_alignment(const APInt& value) { return value.isZero() ? 62 : value.countr_zero(); }

std::optional<std::int64_t> small_constant(const Value* value) {
  const auto* constant = dyn_cast<ConstantInt>(value);
  if (!constant || constant->getBitWidth() > 64) return std::nullopt;
  return constant->getSExtValue();
}

}  // namespace

std::uint64_t bytes_per_lane(const AllocaInst& memory) {
  const auto size = memory.getAllocationSize(memory.getDataLayout());
  if (!size) throw std::runtime_error("a kernel's local memory must have a fixed size");
  return alignTo(size->getFixedValue(), memory.getAlign());
}

Divergence::Divergence(Function& function, abi::Shape block_shape, unsigned width)
    : function_(function),
      block_shape_(block_shape),
      width_(width),
      dominators_(function),
      post_dominators_(function),
      loops_(dominators_) {
  run();
}

void Divergence::run() {
  bool changed = true;
  while (changed) {
    changed = propagate_shapes();
    changed |= find_divergent_branches();
    find_leaders();
    changed |= find_divergent_loops();
  }
}

Shape Divergence::shape(const Value* value) const {
  if (const auto* constant = dyn_cast<ConstantInt>(value))
    return Shape::uniform(constant_alignment(constant->getValue()));
  if (isa<Constant>(value) || isa<Argument>(value)) return Shape::uniform();
  return shapes_.lookup(value);
}

bool Divergence::propagate_shapes() {
  bool any = false;
  ReversePostOrderTraversal<Function*> order(&function_);
  for (bool changed = true; changed;) {
    changed = false;
    for (BasicBlock* block : order)
      for (Instruction& instruction : *block) {
        if (instruction.getType()->isVoidTy()) continue;
        const Shape shape = Shape::join(shapes_.lookup(&instruction), evaluate(instruction));
        Shape& known = shapes_[&instruction];
        if (shape == known) continue;
        known = shape;
        changed = any = true;
      }
  }
  return any;
}

// ---- Shapes of instructions --------------------------------------------------------------------

Shape Divergence::evaluate(const Instruction& instruction) const {
  if (const auto* phi = dyn_cast<PHINode>(&instruction)) return evaluate_phi(*phi);
  if (const auto* binary = dyn_cast<BinaryOperator>(&instruction)) return evaluate_binary(*binary);
  switch (instruction.getOpcode()) {
    case Instruction::ZExt:
    case Instruction::SExt: return evaluate_extension(cast<CastInst>(instruction));
    case Instruction::Trunc:
    case Instruction::PtrToInt:
    case Instruction::IntToPtr: {
      Shape source = shape(instruction.getOperand(0));
      if (source.is_strided())
        return Shape::strided(wrap_to_width(source.stride, instruction.getType()), source.alignment, source.guarded);
      return source;
    }
    case Instruction::GetElementPtr: return evaluate_address(instruction);
    case Instruction::Alloca:
      return Shape::strided(static_cast<std::int64_t>(bytes_per_lane(cast<AllocaInst>(instruction))));
    case Instruction::Load: {
      const Shape address = shape(cast<LoadInst>(instruction).getPointerOperand());
      if (address.kind == Shape::Kind::unknown) return address;
      return address.is_uniform() ? Shape::uniform() : Shape::varying();
    }
    case Instruction::Select: {
      const auto& select = cast<SelectInst>(instruction);
      const Shape condition = shape(select.getCondition());
      if (condition.kind == Shape::Kind::unknown) return condition;
      if (!condition.is_uniform()) return Shape::varying();
      return Shape::join(shape(select.getTrueValue()), shape(select.getFalseValue()));
    }
    case Instruction::AtomicRMW:
    case Instruction::AtomicCmpXchg: return Shape::varying();
    case Instruction::Call: return evaluate_call(instruction);
    case Instruction::Freeze: return shape(instruction.getOperand(0));
    default: return all_uniform(instruction);
  }
}

Shape Divergence::all_uniform(const Instruction& instruction) const {
  for (const Value* operand : instruction.operand_values()) {
    const Shape operand_shape = shape(operand);
    if (operand_shape.kind == Shape::Kind::unknown) return operand_shape;
    if (!operand_shape.is_uniform()) return Shape::varying();
  }
  return Shape::uniform();
}

Shape Divergence::evaluate_phi(const PHINode& phi) const {
  const bool join = joins_.contains(phi.getParent());
  if (join) {
    const Value* same = phi.hasConstantValue();
    if (!same || same == &phi) {
      // Lanes that left a loop at different times saw different values of what changed inside it.
      return Shape::varying();
    }
    if (const auto* definition = dyn_cast<Instruction>(same))
      if (const Loop* loop = loops_.getLoopFor(definition->getParent()); loop && !loop->contains(phi.getParent()))
        return Shape::varying();
    return shape(same);
  }
  Shape result;
  for (const Value* value : phi.incoming_values()) result = Shape::join(result, shape(value));
  return result;
}

// Adding the lanes' offsets to lane 0's value changes only bits below its alignment.
bool Divergence::adds_without_carry(const Shape& s) const {
  return s.stride > 0 && !s.guarded &&
         static_cast<std::uint64_t>(s.stride) * (width_ - 1) < (std::uint64_t{1} << s.alignment);
}

Shape Divergence::evaluate_binary(const BinaryOperator& op) const {
  const Shape a = shape(op.getOperand(0)), b = shape(op.getOperand(1));
  if (a.kind == Shape::Kind::unknown || b.kind == Shape::Kind::unknown) return {};
  if (!a.has_base() || !b.has_base()) return Shape::varying();
  if (!op.getType()->isIntegerTy() || op.getType()->getIntegerBitWidth() > 64) return all_uniform(op);
  const bool guarded = a.guarded || b.guarded;
  const unsigned low = std::min(a.alignment, b.alignment);
  const auto constant = small_constant(op.getOperand(1));
  const auto wrapped = [&](std::int64_t stride, unsigned alignment) {
    return Shape::strided(wrap_to_width(stride, op.getType()), alignment, guarded);
  };
  switch (op.getOpcode()) {
    case Instruction::Add: return wrapped(a.stride + b.stride, low);
    case Instruction::Sub: return wrapped(a.stride - b.stride, low);
    case Instruction::Mul:
      if (a.is_uniform() && b.is_uniform()) return Shape::uniform(a.alignment + b.alignment);
      if (constant && a.is_strided()) return wrapped(a.stride * *constant, a.alignment + b.alignment);
      return Shape::varying();
    case Instruction::Shl:
      if (!constant || *constant < 0 || *constant > 62) return all_uniform(op);
      return wrapped(static_cast<std::int64_t>(static_cast<std::uint64_t>(a.stride) << *constant),
                     a.alignment + static_cast<unsigned>(*constant));
    case Instruction::Or:
      if (cast<PossiblyDisjointInst>(op).isDisjoint()) return wrapped(a.stride + b.stride, low);
      if (a.is_strided() && adds_without_carry(a) && b.is_uniform() && b.alignment >= a.alignment)
        return Shape::strided(a.stride, low);
      return all_uniform(op);
    case Instruction::And:
      if (a.is_uniform() && b.is_uniform()) return Shape::uniform(std::max(a.alignment, b.alignment));
      if (constant && adds_without_carry(a)) {
        const auto offsets = static_cast<std::uint64_t>(a.stride) * (width_ - 1);
        const std::uint64_t touched = std::bit_ceil(offsets + 1) - 1;
        const auto kept = static_cast<std::uint64_t>(*constant) & touched;
        if (kept == touched) return Shape::strided(a.stride, a.alignment);
        if (kept == 0) return Shape::uniform(a.alignment);
      }
      return all_uniform(op);
    case Instruction::LShr:
    case Instruction::AShr:
      if (constant && *constant >= 0 && *constant < 63 && adds_without_carry(a)) {
        const auto offsets = static_cast<std::uint64_t>(a.stride) * (width_ - 1);
        if (offsets < (std::uint64_t{1} << *constant)) return Shape::uniform();
      }
      return all_uniform(op);
    default: return all_uniform(op);
  }
}

Shape Divergence::evaluate_extension(const CastInst& extension) const {
  const Shape source = shape(extension.getOperand(0));
  if (source.is_uniform()) return Shape::uniform(source.alignment);
  if (!source.is_strided() || extension.getSrcTy()->isIntegerTy(1))
    return source.is_strided() ? Shape::varying() : source;
  return Shape::strided(source.stride, source.alignment, source.guarded || !adds_without_carry(source));
}

Shape Divergence::evaluate_address(const Instruction& instruction) const {
  const auto& gep = cast<GEPOperator>(instruction);
  const DataLayout& layout = function_.getDataLayout();
  MapVector<Value*, APInt> offsets;
  APInt constant_offset(64, 0);
  if (!gep.collectOffset(layout, 64, offsets, constant_offset)) return all_uniform(instruction);
  Shape result = shape(gep.getPointerOperand());
  if (!result.has_base()) return result;
  for (const auto& [index, scale] : offsets) {
    Shape index_shape = shape(index);
    if (!index_shape.has_base()) return index_shape;
    const bool narrow = index->getType()->getIntegerBitWidth() < 64 && index_shape.is_strided();
    const bool guarded = result.guarded || index_shape.guarded || (narrow && !adds_without_carry(index_shape));
    result = Shape::strided(result.stride + index_shape.stride * scale.getSExtValue(), 0, guarded);
    if (result.is_varying()) return result;
  }
  return result;
}

Shape Divergence::evaluate_call(const Instruction& instruction) const {
  const auto mark = mark_of(&instruction);
  if (!mark) {
    const auto& call = cast<CallInst>(instruction);
    const Function* callee = call.getCalledFunction();
    // Inline marker for "depends on its arguments alone": intrinsics that can be widened, and pure runtime calls.
    if (callee && callee->doesNotAccessMemory() && !callee->isConvergent()) {
      for (const Value* argument : call.args()) {
        const Shape argument_shape = shape(argument);
        if (argument_shape.kind == Shape::Kind::unknown) return argument_shape;
        if (!argument_shape.is_uniform()) return Shape::varying();
      }
      return Shape::uniform();
    }
    return Shape::varying();
  }
  const unsigned gang = static_cast<unsigned>(std::countr_zero(width_));
  const bool general = block_shape_ == abi::Shape::general;
  switch (*mark) {
    case abi::Mark::tid_x: return general ? Shape::varying() : Shape::strided(1, gang);
    case abi::Mark::tid_y:
    case abi::Mark::tid_z: return general ? Shape::varying() : Shape::uniform();
    case abi::Mark::ntid_x: return Shape::uniform(block_shape_ == abi::Shape::rows ? gang : 0);
    case abi::Mark::laneid: return Shape::strided(1, gang);
    case abi::Mark::thread: {
      StructType* record = ThreadRecord::type(function_.getContext());
      return Shape::strided(
          static_cast<std::int64_t>(function_.getDataLayout().getTypeAllocSize(record).getFixedValue()));
    }
    case abi::Mark::shfl_up:
    case abi::Mark::shfl_down:
    case abi::Mark::shfl_bfly:
    case abi::Mark::shfl_idx:
    case abi::Mark::shfl_up_p:
    case abi::Mark::shfl_down_p:
    case abi::Mark::shfl_bfly_p:
    case abi::Mark::shfl_idx_p:
    case abi::Mark::match_any_32:
    case abi::Mark::match_any_64:
    // Lanes that name different members get different results.
    case abi::Mark::vote_all:
    case abi::Mark::vote_any:
    case abi::Mark::vote_uni:
    case abi::Mark::vote_ballot:
    case abi::Mark::redux_add:
    case abi::Mark::redux_min_s:
    case abi::Mark::redux_max_s:
    case abi::Mark::redux_min_u:
    case abi::Mark::redux_max_u:
    case abi::Mark::redux_and:
    case abi::Mark::redux_or:
    case abi::Mark::redux_xor: {
      const auto& call = cast<CallInst>(instruction);
      const bool exchanges_alike = abi::info(*mark).arguments.size() == 2 && *mark != abi::Mark::match_any_32 &&
                                   *mark != abi::Mark::match_any_64;
      if (exchanges_alike && shape(call.getArgOperand(1)).is_uniform()) return Shape::uniform();
      return Shape::varying();
    }
    default: return Shape::uniform();
  }
}

// ---- Control flow ------------------------------------------------------------------------------

bool Divergence::find_divergent_branches() {
  bool changed = false;
  for (const BasicBlock& block : function_) {
    const auto* branch = dyn_cast<BranchInst>(block.getTerminator());
    if (!branch || branch->isUnconditional() || divergent_branches_.contains(&block)) continue;
    const Shape condition = shape(branch->getCondition());
    if (condition.kind == Shape::Kind::unknown || condition.is_uniform()) continue;
    divergent_branches_.insert(&block);
    mark_joins(&block);
    changed = true;
  }
  return changed;
}

// Blocks that lanes of `branch` can get to from one of its targets before they meet again at `stop`, within one
// iteration of the loops around the branch.
DenseSet<const BasicBlock*> Divergence::reach(const BasicBlock* from, const BasicBlock* branch,
                                              const BasicBlock* stop) const {
  DenseSet<const BasicBlock*> seen;
  SmallVector<const BasicBlock*, 16> work;
  const auto visit = [&](const BasicBlock* source, const BasicBlock* target) {
    const Loop* loop = loops_.getLoopFor(branch);
    for (; loop; loop = loop->getParentLoop())
      if (loop->getHeader() == target && loop->contains(source)) return;
    if (seen.insert(target).second && target != stop) work.push_back(target);
  };
  visit(branch, from);
  while (!work.empty()) {
    const BasicBlock* block = work.pop_back_val();
    for (const BasicBlock* successor : successors(block)) visit(block, successor);
  }
  return seen;
}

void Divergence::mark_joins(const BasicBlock* branch) {
  const auto* node = post_dominators_.getNode(branch);
  const auto* above = node ? node->getIDom() : nullptr;
  const BasicBlock* stop = above ? above->getBlock() : nullptr;
  const auto* terminator = branch->getTerminator();
  const auto first = reach(terminator->getSuccessor(0), branch, stop);
  const auto second = reach(terminator->getSuccessor(1), branch, stop);
  for (const BasicBlock* block : first)
    if (second.contains(block)) joins_.insert(block);
}

bool Divergence::find_divergent_loops() {
  bool changed = false;
  for (const Loop* loop : loops_.getLoopsInPreorder()) {
    if (divergent_loops_.contains(loop)) continue;
    SmallVector<BasicBlock*, 8> exiting;
    loop->getExitingBlocks(exiting);
    const BasicBlock* header_leader = leaders_.lookup(loop->getHeader());
    const bool apart = any_of(exiting, [&](const BasicBlock* block) {
      return divergent_branches_.contains(block) || leaders_.lookup(block) != header_leader;
    });
    if (!apart) continue;
    divergent_loops_.insert(loop);
    SmallVector<BasicBlock*, 8> exits;
    loop->getExitBlocks(exits);
    joins_.insert(exits.begin(), exits.end());
    changed = true;
  }
  return changed;
}

void Divergence::find_leaders() {
  leaders_.clear();
  gathers_.clear();
  leaders_[&function_.getEntryBlock()] = &function_.getEntryBlock();
  ReversePostOrderTraversal<Function*> order(&function_);
  for (const BasicBlock* block : order)
    if (block != &function_.getEntryBlock()) leaders_[block] = leader_of(block);
}

// Looks at the ways from the nearest dominator at the same loop level to `block`: if none leads past the block, or
// if no branch on them is divergent, the block runs with the dominator's lanes.
const BasicBlock* Divergence::leader_of(const BasicBlock* block) {
  const Loop* own = loops_.getLoopFor(block);
  const bool is_header = own && own->getHeader() == block;
  if (is_header && divergent_loops_.contains(own)) return block;
  const Loop* level = is_header ? own->getParentLoop() : own;

  const BasicBlock* dominator = dominators_.getNode(block)->getIDom()->getBlock();
  while (loops_.getLoopFor(dominator) != level) {
    const Loop* inner = loops_.getLoopFor(dominator);
    while (inner->getParentLoop() != level) inner = inner->getParentLoop();
    dominator = inner->getLoopPreheader();
  }

  // The blocks on the ways from the dominator to the block.
  DenseSet<const BasicBlock*> between{dominator};
  SmallVector<const BasicBlock*, 16> work{block};
  while (!work.empty()) {
    const BasicBlock* current = work.pop_back_val();
    for (const BasicBlock* predecessor : predecessors(current)) {
      if (current == block && is_header && own->contains(predecessor)) continue;
      if (between.insert(predecessor).second) work.push_back(predecessor);
    }
  }
  bool escapes = false, uniform = true;
  for (const BasicBlock* current : between) {
    uniform &= !divergent_branches_.contains(current);
    for (const BasicBlock* successor : successors(current))
      escapes |= successor != block && (!between.contains(successor) || (level && level->getHeader() == successor));
  }
  if (escapes && !uniform) return block;
  if (!escapes) gathers_.insert(block);
  return leaders_.lookup(dominator);
}

}  // namespace softgpu::simt
