#include "softgpu/simt/widen_plain.hpp"

#include "llvm/IR/Instructions.h"
#include "softgpu/simt/lane_flow.hpp"

namespace softgpu::simt {

using namespace llvm;

void PlainWidener::emit(Instruction& original) {
  if (shape(&original).has_base()) return emit_at_lane_0(original);
  values_.define(original, GangValue::of_vector(widen_operation(original)));
}

// ---- Lane 0 ------------------------------------------------------------------------------------

// What holds for lane 0 need not hold for a lane that runs: the flags that make a result poison go.
void PlainWidener::emit_at_lane_0(Instruction& original) {
  const Shape s = shape(&original);
  Instruction* copy = original.clone();
  // Lane 0 may be off and its bits not disjoint; a sum has the stride all the same.
  if (const auto* disjoint = dyn_cast<PossiblyDisjointInst>(&original);
      disjoint && disjoint->isDisjoint() && s.is_strided()) {
    copy->deleteValue();
    copy = BinaryOperator::CreateAdd(original.getOperand(0), original.getOperand(1));
  }
  for (Use& operand : copy->operands()) operand.set(values_.base(operand.get()));
  if (s.is_strided() || any_of(original.operands(), [&](Value* v) { return shape(v).is_strided(); }))
    copy->dropPoisonGeneratingFlags();
  builder_.Insert(copy, original.getName());
  GangValue value = GangValue::of_base(copy);
  if (s.guarded) {
    value.guard = combine_guards(original);
    value.deviation = combine_deviations(original, value);
  }
  values_.define(original, value);
}

// The stride of the result holds when the operands' strides hold and, for an extension, when adding the lanes'
// offsets to lane 0's value does not wrap in the narrow type.
Value* PlainWidener::combine_guards(Instruction& original) {
  Value* guard = builder_.getTrue();
  for (Value* operand : original.operands())
    if (shape(operand).guarded) guard = builder_.CreateAnd(guard, values_.guard(operand));
  const auto check_narrow = [&](Value* narrow, bool is_signed) {
    if (shape(narrow).is_strided()) guard = builder_.CreateAnd(guard, fits_narrow_type(narrow, is_signed));
  };
  if (isa<ZExtInst>(original) || isa<SExtInst>(original)) check_narrow(original.getOperand(0), isa<SExtInst>(original));
  if (auto* gep = dyn_cast<GetElementPtrInst>(&original))
    for (Value* index : gep->indices())
      if (!isa<Constant>(index) && index->getType()->getIntegerBitWidth() < 64) check_narrow(index, true);
  return guard;
}

Value* PlainWidener::fits_narrow_type(Value* narrow, bool is_signed) {
  const Shape s = shape(narrow);
  const unsigned bits = narrow->getType()->getIntegerBitWidth();
  const APInt span(bits, static_cast<std::uint64_t>(s.stride) * (width_ - 1), /*isSigned=*/true);
  const APInt highest = is_signed ? APInt::getSignedMaxValue(bits) : APInt::getMaxValue(bits);
  const APInt lowest = is_signed ? APInt::getSignedMinValue(bits) : APInt::getMinValue(bits);
  Value* base = values_.base(narrow);
  Value* limit = ConstantInt::get(builder_.getContext(), (s.stride > 0 ? highest : lowest) - span);
  if (s.stride > 0) return is_signed ? builder_.CreateICmpSLE(base, limit) : builder_.CreateICmpULE(base, limit);
  return is_signed ? builder_.CreateICmpSGE(base, limit) : builder_.CreateICmpUGE(base, limit);
}

// What only moves or scales a value does the same to its deviation.
Value* PlainWidener::combine_deviations(Instruction& original, const GangValue& value) {
  Type* type = wide(values_.offset_type(original.getType()));
  const auto of = [&](unsigned operand) { return values_.deviation(original.getOperand(operand)); };
  const auto factor = [&] { return ConstantInt::get(type, cast<ConstantInt>(original.getOperand(1))->getValue()); };
  switch (original.getOpcode()) {
    case Instruction::Or:  // disjoint, or it would not be strided
    case Instruction::Add: return builder_.CreateAdd(of(0), of(1));
    case Instruction::Sub: return builder_.CreateSub(of(0), of(1));
    case Instruction::Mul: return builder_.CreateMul(of(0), factor());
    case Instruction::Shl: return builder_.CreateShl(of(0), factor());
    case Instruction::Trunc:
    case Instruction::PtrToInt:
    case Instruction::IntToPtr: return builder_.CreateZExtOrTrunc(of(0), type);
    case Instruction::Freeze: return of(0);
    case Instruction::Select: return builder_.CreateSelect(values_.base(original.getOperand(0)), of(1), of(2));
    default: break;
  }
  if (auto* gep = dyn_cast<GetElementPtrInst>(&original);
      gep && gep->getNumIndices() == 1 && gep->getOperand(1)->getType()->isIntegerTy(64)) {
    const auto size = gang_.getDataLayout().getTypeAllocSize(gep->getSourceElementType()).getFixedValue();
    return builder_.CreateAdd(of(0), builder_.CreateMul(of(1), ConstantInt::get(type, size)));
  }
  return compute_deviations(original, value);
}

// The lanes are computed and compared with the stride, in the rare case that it does not hold.
Value* PlainWidener::compute_deviations(Instruction& original, const GangValue& value) {
  Type* type = wide(values_.offset_type(original.getType()));
  for (Value* operand : original.operands()) values_.vector(operand);
  AllocaInst* deviation = new_slot(gang_, type, original.getName() + ".deviation");
  branch(
      builder_, value.guard, [&] { builder_.CreateStore(Constant::getNullValue(type), deviation); },
      [&] {
        Value* lanes = widen_operation(original);
        Value* strided = values_.add_lane_offsets(value.base, shape(&original).stride);
        if (original.getType()->isPointerTy()) {
          lanes = builder_.CreatePtrToInt(lanes, type);
          strided = builder_.CreatePtrToInt(strided, type);
        }
        builder_.CreateStore(builder_.CreateSub(lanes, strided), deviation);
      });
  return builder_.CreateLoad(type, deviation);
}

// ---- Vectors -----------------------------------------------------------------------------------

Value* PlainWidener::widen_operation(Instruction& original) {
  if (auto* gep = dyn_cast<GetElementPtrInst>(&original)) {
    SmallVector<Value*, 4> indices;
    for (Value* index : gep->indices()) indices.push_back(isa<Constant>(index) ? index : values_.vector(index));
    return builder_.CreateGEP(gep->getSourceElementType(), values_.vector(gep->getPointerOperand()), indices,
                              original.getName());
  }
  Instruction* copy = original.clone();
  for (Use& operand : copy->operands()) operand.set(values_.vector(operand.get()));
  copy->mutateType(wide(original.getType()));
  // Lanes that are off may hold anything, and a division by zero would stop the whole gang.
  if (original.isIntDivRem())
    copy->setOperand(1, mask_.choose(builder_, copy->getOperand(1), ConstantInt::get(copy->getType(), 1)));
  return builder_.Insert(copy, original.getName());
}

// ---- Lane by lane ------------------------------------------------------------------------------

void PlainWidener::emit_lane_by_lane(Instruction& original) {
  // Read everything here, so that nothing first read inside the loop is remembered for behind it.
  for (Value* operand : original.operands()) values_.prepare_lanes(operand);
  auto* pair = dyn_cast<StructType>(original.getType());
  Type* type = pair ? pair->getElementType(0) : original.getType();
  AllocaInst* result = type->isVoidTy() ? nullptr : new_slot(gang_, wide(type), original.getName());
  // Of a pair the second says whether a lane had success: a bit for each.
  Type* bits = builder_.getIntNTy(width_);
  AllocaInst* success = pair ? new_slot(gang_, bits, original.getName() + ".success") : nullptr;
  if (result) builder_.CreateStore(PoisonValue::get(wide(type)), result);
  if (success) builder_.CreateStore(Constant::getNullValue(bits), success);
  const auto put = [&](Value* value, Value* lane) {
    Value* vector = builder_.CreateLoad(result->getAllocatedType(), result);
    builder_.CreateStore(builder_.CreateInsertElement(vector, value, lane), result);
  };
  const auto put_success = [&](Value* value, Value* lane) {
    Value* bit = builder_.CreateShl(builder_.CreateZExt(value, bits), builder_.CreateZExtOrTrunc(lane, bits));
    builder_.CreateStore(builder_.CreateOr(builder_.CreateLoad(bits, success), bit), success);
  };
  for_each_lane(builder_, mask_, [&](Value* lane) {
    Instruction* copy = original.clone();
    for (Use& operand : copy->operands()) operand.set(values_.in_lane(operand.get(), lane));
    builder_.Insert(copy);
    if (success) {
      put(builder_.CreateExtractValue(copy, 0), lane);
      put_success(builder_.CreateExtractValue(copy, 1), lane);
    } else if (result) {
      put(copy, lane);
    }
  });
  if (!result) return;
  Value* vector = builder_.CreateLoad(wide(type), result);
  if (success)
    values_.define_pair(original, vector,
                        builder_.CreateBitCast(builder_.CreateLoad(bits, success), wide(builder_.getInt1Ty())));
  else
    values_.define(original, GangValue::of_vector(vector));
}

}  // namespace softgpu::simt
