// Loads, stores and atomics of a gang. What counts is how the address differs between lanes: the same in all,
// adjacent elements, a small stride, or anything.
#include "softgpu/simt/lane_flow.hpp"
#include "softgpu/simt/widen.hpp"

namespace softgpu::simt {

using namespace llvm;

namespace {

// Lanes that lie further apart are gathered one by one.
constexpr std::int64_t kMaxStrideInElements = 4;

}  // namespace

void Widener::emit_alloca(AllocaInst& original) {
  Type* bytes = ArrayType::get(builder_.getInt8Ty(), bytes_per_lane(original) * options_.width);
  AllocaInst* memory = new_slot(gang_, bytes, original.getName());
  memory->setAlignment(original.getAlign());
  values_.define(original, GangValue::of_base(memory));
}

bool Widener::is_contiguous(const Shape& address, Type* type) const {
  const DataLayout& layout = thread_.getDataLayout();
  return address.is_strided() && layout.typeSizeEqualsStoreSize(type) &&
         address.stride == static_cast<std::int64_t>(layout.getTypeStoreSize(type).getFixedValue());
}

// ---- Loads -------------------------------------------------------------------------------------

void Widener::emit_load(LoadInst& original) {
  Value* pointer = original.getPointerOperand();
  const Shape address = shape(pointer);
  if (address.is_uniform()) return emit_at_lane_0(original);
  // Relaxed loads are in no order with each other: those of all lanes may be one.
  if (original.isVolatile() || isStrongerThanMonotonic(original.getOrdering())) return emit_lane_by_lane(original);
  values_.define(original, GangValue::of_vector(load_strided(original)));
}

Value* Widener::load_strided(LoadInst& original) {
  Value* pointer = original.getPointerOperand();
  const Shape address = shape(pointer);
  Type* type = original.getType();
  Value* addresses = nullptr;
  const auto gather = [&] {
    return builder_.CreateMaskedGather(wide(type), addresses, original.getAlign(), mask_.vector(),
                                       PoisonValue::get(wide(type)), original.getName());
  };
  if (!is_contiguous(address, type)) {
    const DataLayout& layout = thread_.getDataLayout();
    const auto size = static_cast<std::int64_t>(layout.getTypeStoreSize(type).getFixedValue());
    const bool near = address.is_strided() && !address.guarded && layout.typeSizeEqualsStoreSize(type) &&
                      address.stride > 0 && address.stride % size == 0 && address.stride / size <= kMaxStrideInElements;
    addresses = values_.vector(pointer);
    if (!near) return gather();
    // All elements between the first and the last lane's, of which every n-th is kept. Reads no page that no lane
    // reads.
    const auto step = static_cast<unsigned>(address.stride / size);
    Value* base = values_.base(pointer);
    const auto load_and_pick = [&]() -> Value* {
      auto* span = FixedVectorType::get(type, (options_.width - 1) * step + 1);
      Value* elements = builder_.CreateAlignedLoad(span, base, original.getAlign());
      SmallVector<int, 32> picked;
      for (unsigned lane = 0; lane < options_.width; ++lane) picked.push_back(static_cast<int>(lane * step));
      return builder_.CreateShuffleVector(elements, picked);
    };
    if (mask_.is_all()) return load_and_pick();
    AllocaInst* result = new_slot(gang_, wide(type), original.getName());
    branch(
        builder_, mask_.has_all(builder_), [&] { builder_.CreateStore(load_and_pick(), result); },
        [&] { builder_.CreateStore(gather(), result); });
    return builder_.CreateLoad(wide(type), result);
  }
  Value* base = values_.base(pointer);
  if (!address.guarded) return load_contiguous(type, base, original);
  values_.deviation(pointer);  // read here, so that it is known on both sides
  AllocaInst* result = new_slot(gang_, wide(type), original.getName());
  branch(
      builder_, values_.guard(pointer), [&] { builder_.CreateStore(load_contiguous(type, base, original), result); },
      [&] {
        addresses = values_.lanes_from_base(pointer);
        builder_.CreateStore(gather(), result);
      });
  return builder_.CreateLoad(wide(type), result);
}

Value* Widener::load_contiguous(Type* type, Value* address, LoadInst& like) {
  if (!mask_.is_all())
    return builder_.CreateMaskedLoad(wide(type), address, like.getAlign(), mask_.vector(), PoisonValue::get(wide(type)),
                                     like.getName());
  LoadInst* load = builder_.CreateAlignedLoad(wide(type), address, like.getAlign(), like.getName());
  load->copyMetadata(like, {LLVMContext::MD_invariant_load, LLVMContext::MD_nontemporal});
  return load;
}

// ---- Stores ------------------------------------------------------------------------------------

void Widener::emit_store(StoreInst& original) {
  Value* pointer = original.getPointerOperand();
  Value* stored = original.getValueOperand();
  const Shape address = shape(pointer);
  if (!original.isSimple() && !(address.is_uniform() && shape(stored).is_uniform())) return emit_lane_by_lane(original);
  if (address.is_uniform()) {
    Value* value = nullptr;
    if (shape(stored).is_uniform()) {
      value = values_.base(stored);
    } else {
      // Of several lanes that write one place, any may win: the last one does.
      value = builder_.CreateExtractElement(values_.vector(stored), mask_.last_lane(builder_));
    }
    auto* copy = cast<StoreInst>(original.clone());
    copy->setOperand(0, value);
    copy->setOperand(1, values_.base(pointer));
    builder_.Insert(copy);
    return;
  }
  Value* values = values_.vector(stored);
  if (!is_contiguous(address, stored->getType())) {
    builder_.CreateMaskedScatter(values, values_.vector(pointer), original.getAlign(), mask_.vector());
    return;
  }
  Value* base = values_.base(pointer);
  if (!address.guarded) return store_contiguous(values, base, original.getAlign());
  values_.deviation(pointer);  // read here, so that it is known on both sides
  branch(
      builder_, values_.guard(pointer), [&] { store_contiguous(values, base, original.getAlign()); },
      [&] {
        builder_.CreateMaskedScatter(values, values_.lanes_from_base(pointer), original.getAlign(), mask_.vector());
      });
}

// On some CPUs a masked store costs ten times a plain one, so the common case of a full mask is tested for.
void Widener::store_contiguous(Value* value, Value* address, Align alignment) {
  if (mask_.is_all()) {
    builder_.CreateAlignedStore(value, address, alignment);
    return;
  }
  branch(
      builder_, mask_.has_all(builder_), [&] { builder_.CreateAlignedStore(value, address, alignment); },
      [&] { builder_.CreateMaskedStore(value, address, alignment, mask_.vector()); });
}

// ---- Atomics -----------------------------------------------------------------------------------

void Widener::emit_atomic(Instruction& original) {
  if (auto* rmw = dyn_cast<AtomicRMWInst>(&original))
    if (emit_reduced_atomic(*rmw)) return;
  emit_lane_by_lane(original);
}

// Lanes that update one place and don't look at what was there: combine first, then update once.
bool Widener::emit_reduced_atomic(AtomicRMWInst& original) {
  if (!original.use_empty() || !shape(original.getPointerOperand()).is_uniform() || original.isVolatile()) return false;
  Type* type = original.getType();
  Value* identity = nullptr;
  Intrinsic::ID reduction = Intrinsic::not_intrinsic;
  switch (original.getOperation()) {
    case AtomicRMWInst::Add:
      reduction = Intrinsic::vector_reduce_add;
      identity = Constant::getNullValue(type);
      break;
    case AtomicRMWInst::Or:
      reduction = Intrinsic::vector_reduce_or;
      identity = Constant::getNullValue(type);
      break;
    case AtomicRMWInst::Xor:
      reduction = Intrinsic::vector_reduce_xor;
      identity = Constant::getNullValue(type);
      break;
    case AtomicRMWInst::And:
      reduction = Intrinsic::vector_reduce_and;
      identity = Constant::getAllOnesValue(type);
      break;
    case AtomicRMWInst::Max: reduction = Intrinsic::vector_reduce_smax; break;
    case AtomicRMWInst::Min: reduction = Intrinsic::vector_reduce_smin; break;
    case AtomicRMWInst::UMax: reduction = Intrinsic::vector_reduce_umax; break;
    case AtomicRMWInst::UMin: reduction = Intrinsic::vector_reduce_umin; break;
    default: return false;
  }
  if (!identity) {
    const unsigned bits = type->getIntegerBitWidth();
    switch (reduction) {
      case Intrinsic::vector_reduce_smax: identity = ConstantInt::get(context_, APInt::getSignedMinValue(bits)); break;
      case Intrinsic::vector_reduce_smin: identity = ConstantInt::get(context_, APInt::getSignedMaxValue(bits)); break;
      case Intrinsic::vector_reduce_umax: identity = ConstantInt::get(context_, APInt::getMinValue(bits)); break;
      default: identity = ConstantInt::get(context_, APInt::getMaxValue(bits)); break;
    }
  }
  Value* values = values_.vector(original.getValOperand());
  Value* combined = builder_.CreateUnaryIntrinsic(reduction, mask_.choose(builder_, values, identity));
  auto* copy = cast<AtomicRMWInst>(original.clone());
  copy->setOperand(0, values_.base(original.getPointerOperand()));
  copy->setOperand(1, combined);
  builder_.Insert(copy);
  return true;
}

}  // namespace softgpu::simt
