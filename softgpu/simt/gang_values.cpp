#include "softgpu/simt/gang_values.hpp"

#include <stdexcept>

namespace softgpu::simt {

using namespace llvm;

AllocaInst* new_slot(Function& gang, Type* type, const Twine& name) {
  BasicBlock& entry = gang.getEntryBlock();
  return IRBuilder<>(&entry, entry.begin()).CreateAlloca(type, nullptr, name);
}

// ---- Slots -------------------------------------------------------------------------------------

void GangValues::make_slots(Function& gang, BasicBlock& block) {
  for (Instruction& instruction : block) {
    Type* type = instruction.getType();
    if (type->isVoidTy() || type->isStructTy()) continue;
    if (!isa<PHINode>(instruction) && !instruction.isUsedOutsideOfBlock(&block)) continue;
    const Shape s = shape(&instruction);
    Slots& slots = slots_[&instruction];
    if (s.has_base()) slots.base = new_slot(gang, type, instruction.getName());
    if (!s.has_base()) slots.vector = new_slot(gang, wide(type), instruction.getName());
    if (!s.guarded) continue;
    slots.guard = new_slot(gang, builder_.getInt1Ty(), instruction.getName() + ".guard");
    slots.deviation = new_slot(gang, wide(offset_type(type)), instruction.getName() + ".deviation");
  }
}

Value* GangValues::read(AllocaInst* slot, const Twine& name) {
  if (!slot) throw std::logic_error("a value is used in a form that it was not given");
  return builder_.CreateLoad(slot->getAllocatedType(), slot, name);
}

void GangValues::write(const GangValue& value, const Slots& slots) {
  if (slots.base) builder_.CreateStore(value.base, slots.base);
  if (slots.vector) builder_.CreateStore(value.vector, slots.vector);
  if (slots.guard) builder_.CreateStore(value.guard, slots.guard);
  if (slots.deviation) builder_.CreateStore(value.deviation, slots.deviation);
}

// ---- Definitions -------------------------------------------------------------------------------

void GangValues::define(Instruction& original, const GangValue& value) {
  local_[&original] = value;
  const auto slots = slots_.find(&original);
  if (slots != slots_.end()) write(value, slots->second);
}

void GangValues::define_pair(Instruction& original, Value* first, Value* second) {
  pairs_[&original] = {first, second};
}

GangValue GangValues::incoming(PHINode& phi, Value* original) {
  const Shape s = shape(&phi);
  if (!s.has_base()) return GangValue::of_vector(vector(original));
  GangValue value = GangValue::of_base(base(original));
  if (!s.guarded) return value;
  value.guard = guard(original);
  value.deviation = deviation(original);
  return value;
}

void GangValues::assign(PHINode& phi, const GangValue& value, const Mask& mask, bool blend) {
  const Slots& slots = slots_[&phi];
  GangValue assigned = value;
  if (slots.vector && blend && !mask.is_all())
    assigned.vector = mask.choose(builder_, value.vector, read(slots.vector));
  write(assigned, slots);
}

void GangValues::forget(const PHINode& phi) {
  if (AllocaInst* slot = slots_[&phi].vector) builder_.CreateStore(PoisonValue::get(slot->getAllocatedType()), slot);
}

// ---- Uses --------------------------------------------------------------------------------------

Value* GangValues::base(Value* original) {
  if (isa<Constant>(original)) return original;
  GangValue& value = local_[original];
  if (!value.base) value.base = read(slots_[original].base, original->getName());
  return value.base;
}

Value* GangValues::vector(Value* original) {
  if (auto* constant = dyn_cast<Constant>(original))
    return ConstantVector::getSplat(ElementCount::getFixed(width_), constant);
  if (Value* known = local_[original].vector) return known;
  Value* lanes =
      shape(original).has_base() ? lanes_from_base(original) : read(slots_[original].vector, original->getName());
  return local_[original].vector = lanes;
}

Value* GangValues::guard(Value* original) {
  if (!shape(original).guarded) return builder_.getTrue();
  GangValue& value = local_[original];
  if (!value.guard) value.guard = read(slots_[original].guard);
  return value.guard;
}

Value* GangValues::deviation(Value* original) {
  if (!shape(original).guarded) return Constant::getNullValue(wide(offset_type(original->getType())));
  GangValue& value = local_[original];
  if (!value.deviation) value.deviation = read(slots_[original].deviation);
  return value.deviation;
}

Value* GangValues::lanes_from_base(Value* original) {
  const Shape s = shape(original);
  Value* lanes = add_lane_offsets(base(original), s.stride);
  if (!s.guarded) return lanes;
  Value* off_stride = deviation(original);
  if (original->getType()->isPointerTy()) return builder_.CreateGEP(builder_.getInt8Ty(), lanes, off_stride);
  return builder_.CreateAdd(lanes, off_stride);
}

Value* GangValues::add_lane_offsets(Value* base, std::int64_t stride) {
  Value* splat = builder_.CreateVectorSplat(width_, base);
  if (stride == 0) return splat;
  Type* element = offset_type(base->getType());
  SmallVector<Constant*, 32> offsets;
  for (unsigned lane = 0; lane < width_; ++lane)
    offsets.push_back(ConstantInt::get(element, static_cast<std::uint64_t>(stride) * lane, true));
  if (base->getType()->isPointerTy())
    return builder_.CreateGEP(builder_.getInt8Ty(), splat, ConstantVector::get(offsets));
  return builder_.CreateAdd(splat, ConstantVector::get(offsets));
}

// ---- One lane ----------------------------------------------------------------------------------

void GangValues::prepare_lanes(Value* original) {
  if (isa<Constant>(original) || isa<BasicBlock>(original)) return;
  const Shape s = shape(original);
  if (s.has_base() && !s.guarded)
    base(original);
  else
    vector(original);
}

Value* GangValues::in_lane(Value* original, Value* lane) {
  if (isa<Constant>(original)) return original;
  const Shape s = shape(original);
  if (s.is_uniform()) return base(original);
  if (!s.is_strided() || s.guarded) return builder_.CreateExtractElement(vector(original), lane);
  Value* first = base(original);
  Type* type = offset_type(first->getType());
  Value* offset = builder_.CreateMul(builder_.CreateZExtOrTrunc(lane, type),
                                     ConstantInt::get(type, static_cast<std::uint64_t>(s.stride), true));
  if (first->getType()->isPointerTy()) return builder_.CreateGEP(builder_.getInt8Ty(), first, offset);
  return builder_.CreateAdd(first, offset);
}

}  // namespace softgpu::simt
