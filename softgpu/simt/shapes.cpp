// How each value differs between lanes, given which blocks are joins.
#include <bit>
#include <stdexcept>

#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/MathExtras.h"
#include "softgpu/simt/divergence.hpp"
#include "softgpu/simt/marks.hpp"
#include "softgpu/simt/thread_values.hpp"

namespace softgpu::simt {

using namespace llvm;

namespace {

unsigned bits_of(const Type* type) { return type->isPointerTy() ? 64 : type->getIntegerBitWidth(); }

// Strides wrap as the values do.
std::int64_t multiplied(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
std::int64_t added(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t wrapped(std::int64_t stride, const Type* type) {
  const unsigned bits = bits_of(type);
  return bits >= 64 ? stride : SignExtend64(static_cast<std::uint64_t>(stride), bits);
}

// From lane 0 to the last lane, in either direction.
std::uint64_t span_of(const Shape& s, unsigned width) {
  const auto stride = static_cast<std::uint64_t>(s.stride);
  return SaturatingMultiply<std::uint64_t>(s.stride < 0 ? -stride : stride, width - 1);
}

bool fits(std::uint64_t value, unsigned bits) { return bits >= 64 || value >> bits == 0; }

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

Shape Divergence::shape(const Value* value) const {
  if (const auto* constant = dyn_cast<ConstantInt>(value))
    return Shape::uniform(constant_alignment(constant->getValue()));
  if (isa<Constant>(value) || isa<Argument>(value)) return Shape::uniform();
  return shapes_.lookup(value);
}

Shape Divergence::evaluate(const Instruction& instruction) const {
  if (const auto* phi = dyn_cast<PHINode>(&instruction)) return evaluate_phi(*phi);
  if (const auto* binary = dyn_cast<BinaryOperator>(&instruction)) return evaluate_binary(*binary);
  if (const auto* comparison = dyn_cast<ICmpInst>(&instruction)) return evaluate_comparison(*comparison);
  if (const auto* call = dyn_cast<CallInst>(&instruction)) return evaluate_call(*call);
  switch (instruction.getOpcode()) {
    case Instruction::ZExt:
    case Instruction::SExt:
      if (bits_of(instruction.getType()) > 64) return all_uniform(instruction);  // a stride has 64 bits
      return evaluate_extension(instruction.getOperand(0), isa<SExtInst>(instruction));
    case Instruction::IntToPtr:
      if (bits_of(instruction.getOperand(0)->getType()) < 64)
        return evaluate_extension(instruction.getOperand(0), /*is_signed=*/false);
      [[fallthrough]];
    case Instruction::Trunc:
    case Instruction::PtrToInt: {
      const Shape source = shape(instruction.getOperand(0));
      if (!source.is_strided() || bits_of(instruction.getType()) > 64)
        return source.is_strided() ? Shape::varying() : source;
      return Shape::strided(wrapped(source.stride, instruction.getType()), source.alignment, source.guarded);
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
    case Instruction::Freeze: return shape(instruction.getOperand(0));
    default: return all_uniform(instruction);
  }
}

Shape Divergence::all_uniform(const User& user) const {
  for (const Value* operand : user.operand_values()) {
    const Shape operand_shape = shape(operand);
    if (operand_shape.kind == Shape::Kind::unknown) return operand_shape;
    if (!operand_shape.is_uniform()) return Shape::varying();
  }
  return Shape::uniform();
}

Shape Divergence::evaluate_phi(const PHINode& phi) const {
  if (!joins_.contains(phi.getParent())) {
    Shape result;
    for (const Value* value : phi.incoming_values()) result = Shape::join(result, shape(value));
    return result;
  }
  const Value* same = phi.hasConstantValue();
  if (!same || same == &phi) return Shape::varying();
  // Lanes that left a loop at different times saw different values of what changed inside it.
  if (const auto* definition = dyn_cast<Instruction>(same))
    if (const Loop* loop = loops_.getLoopFor(definition->getParent()); loop && !loop->contains(phi.getParent()))
      return Shape::varying();
  return shape(same);
}

// No lane's value, in `bits` bits, lies outside the interval [n * 2^alignment, (n + 1) * 2^alignment) that lane 0's
// value starts.
bool Divergence::stays_in_its_interval(const Shape& s, unsigned bits) const {
  return s.stride > 0 && !s.guarded && fits(span_of(s, width_), std::min<unsigned>(s.alignment, bits));
}

Shape Divergence::evaluate_binary(const BinaryOperator& op) const {
  const Shape a = shape(op.getOperand(0)), b = shape(op.getOperand(1));
  if (a.kind == Shape::Kind::unknown || b.kind == Shape::Kind::unknown) return {};
  if (!a.has_base() || !b.has_base()) return Shape::varying();
  if (!op.getType()->isIntegerTy() || op.getType()->getIntegerBitWidth() > 64) return all_uniform(op);
  const unsigned bits = bits_of(op.getType());
  const bool guarded = a.guarded || b.guarded;
  const unsigned low = std::min(a.alignment, b.alignment);
  const auto constant = small_constant(op.getOperand(1));
  const auto strided = [&](std::int64_t stride, unsigned alignment) {
    return Shape::strided(wrapped(stride, op.getType()), alignment, guarded);
  };
  switch (op.getOpcode()) {
    case Instruction::Add: return strided(added(a.stride, b.stride), low);
    case Instruction::Sub: return strided(added(a.stride, multiplied(b.stride, -1)), low);
    case Instruction::Mul:
      if (a.is_uniform() && b.is_uniform()) return Shape::uniform(a.alignment + b.alignment);
      if (constant && a.is_strided()) return strided(multiplied(a.stride, *constant), a.alignment + b.alignment);
      return Shape::varying();
    case Instruction::Shl:
      if (!constant || *constant < 0 || *constant >= static_cast<std::int64_t>(bits)) return all_uniform(op);
      return strided(static_cast<std::int64_t>(static_cast<std::uint64_t>(a.stride) << *constant),
                     a.alignment + static_cast<unsigned>(*constant));
    case Instruction::Or:
      if (cast<PossiblyDisjointInst>(op).isDisjoint()) return strided(added(a.stride, b.stride), low);
      if (a.is_strided() && stays_in_its_interval(a, bits) && b.is_uniform() && b.alignment >= a.alignment)
        return Shape::strided(a.stride, low);
      return all_uniform(op);
    case Instruction::And:
      if (a.is_uniform() && b.is_uniform()) return Shape::uniform(std::max(a.alignment, b.alignment));
      if (constant && stays_in_its_interval(a, bits)) {
        const std::uint64_t touched = std::bit_ceil(span_of(a, width_) + 1) - 1;
        const auto kept = static_cast<std::uint64_t>(*constant) & touched;
        if (kept == touched) return Shape::strided(a.stride, a.alignment);
        if (kept == 0) return Shape::uniform(a.alignment);
      }
      return all_uniform(op);
    case Instruction::LShr:
    case Instruction::AShr:
      // Bits that tell lanes apart are all shifted out.
      if (constant && *constant >= 0 && *constant < static_cast<std::int64_t>(bits) &&
          stays_in_its_interval(a, std::min<unsigned>(bits, static_cast<unsigned>(*constant))))
        return Shape::uniform();
      return all_uniform(op);
    default: return all_uniform(op);
  }
}

// Lanes whose values share an aligned interval compare alike with a bound between two such intervals.
Shape Divergence::evaluate_comparison(const ICmpInst& comparison) const {
  const Value *left = comparison.getOperand(0), *right = comparison.getOperand(1);
  CmpInst::Predicate predicate = comparison.getPredicate();
  if (shape(right).is_strided()) {
    std::swap(left, right);
    predicate = CmpInst::getSwappedPredicate(predicate);
  }
  const Shape value = shape(left), bound = shape(right);
  if (value.kind == Shape::Kind::unknown || bound.kind == Shape::Kind::unknown) return {};
  if (!value.is_strided() || !bound.is_uniform() || !left->getType()->isIntegerTy()) return all_uniform(comparison);
  const bool separates = predicate == CmpInst::ICMP_ULT || predicate == CmpInst::ICMP_UGE ||
                         predicate == CmpInst::ICMP_SLT || predicate == CmpInst::ICMP_SGE;
  // One bit less: an interval has one sign.
  if (separates && stays_in_its_interval(value, bits_of(left->getType()) - 1) && bound.alignment >= value.alignment)
    return Shape::uniform();
  return Shape::varying();
}

Shape Divergence::evaluate_extension(const Value* narrow, bool is_signed) const {
  const Shape source = shape(narrow);
  if (!source.is_strided()) return source.is_uniform() ? Shape::uniform(source.alignment) : source;
  const unsigned bits = bits_of(narrow->getType()) - (is_signed ? 1 : 0);
  if (stays_in_its_interval(source, bits)) return Shape::strided(source.stride, source.alignment);
  // Whether it wraps can be tested only while it wraps at most once.
  if (!fits(span_of(source, width_), bits)) return Shape::varying();
  return Shape::strided(source.stride, source.alignment, /*guarded=*/true);
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
    const bool narrow = bits_of(index->getType()) < 64;
    const Shape index_shape = narrow ? evaluate_extension(index, /*is_signed=*/true) : shape(index);
    if (!index_shape.has_base()) return index_shape;
    const bool guarded = result.guarded || index_shape.guarded;
    result = Shape::strided(added(result.stride, multiplied(index_shape.stride, scale.getSExtValue())), 0, guarded);
    if (result.is_varying()) return result;
  }
  return result;
}

Shape Divergence::evaluate_call(const CallInst& call) const {
  if (const auto mark = mark_of(&call)) return evaluate_mark(call, *mark);
  const Function* callee = call.getCalledFunction();
  // What depends on its arguments alone: intrinsics that can be widened, and pure runtime calls.
  if (!callee || !callee->doesNotAccessMemory() || callee->isConvergent()) return Shape::varying();
  for (const Value* argument : call.args()) {
    const Shape argument_shape = shape(argument);
    if (argument_shape.kind == Shape::Kind::unknown) return argument_shape;
    if (!argument_shape.is_uniform()) return Shape::varying();
  }
  return Shape::uniform();
}

Shape Divergence::evaluate_mark(const CallInst& call, abi::Mark mark) const {
  const unsigned gang = static_cast<unsigned>(std::countr_zero(width_));
  const bool general = block_shape_ == abi::BlockShape::general;
  switch (abi::info(mark).lanes) {
    case abi::MarkLanes::alike: return Shape::uniform();
    case abi::MarkLanes::steps: return Shape::strided(1, gang);
    case abi::MarkLanes::members: {
      const Shape members = shape(call.getArgOperand(call.arg_size() - 1));
      if (members.is_uniform()) return Shape::uniform();
      return members.kind == Shape::Kind::unknown ? members : Shape::varying();
    }
    case abi::MarkLanes::shape:
      if (mark == abi::Mark::ntid_x) return Shape::uniform(block_shape_ == abi::BlockShape::rows ? gang : 0);
      if (general) return Shape::varying();
      return mark == abi::Mark::tid_x ? Shape::strided(1, gang) : Shape::uniform();
    case abi::MarkLanes::apart: break;
  }
  if (mark != abi::Mark::thread) return Shape::varying();
  StructType* record = ThreadRecord::type(function_.getContext());
  return Shape::strided(static_cast<std::int64_t>(function_.getDataLayout().getTypeAllocSize(record).getFixedValue()));
}

}  // namespace softgpu::simt
