#include "softgpu/simt/widen_memory.hpp"

#include "softgpu/simt/lane_flow.hpp"
#include "softgpu/simt/lane_reduction.hpp"

namespace softgpu::simt {

using namespace llvm;

namespace {

// Lanes that lie further apart are gathered one by one.
constexpr std::int64_t kMaxStrideInElements = 4;

}  // namespace

void MemoryWidener::emit_alloca(AllocaInst& original) {
  Type* bytes = ArrayType::get(builder_.getInt8Ty(), bytes_per_lane(original) * width_);
  AllocaInst* memory = new_slot(gang_, bytes, original.getName());
  memory->setAlignment(original.getAlign());
  memory->copyMetadata(original);
  values_.define(original, GangValue::of_base(memory));
}

bool MemoryWidener::is_contiguous(const Shape& address, Type* type) const {
  const DataLayout& layout = gang_.getDataLayout();
  return address.is_strided() && layout.typeSizeEqualsStoreSize(type) &&
         address.stride == static_cast<std::int64_t>(layout.getTypeStoreSize(type).getFixedValue());
}

unsigned MemoryWidener::small_step(const Shape& address, Type* type) const {
  const DataLayout& layout = gang_.getDataLayout();
  const auto size = static_cast<std::int64_t>(layout.getTypeStoreSize(type).getFixedValue());
  const bool is_small = address.is_strided() && !address.guarded && layout.typeSizeEqualsStoreSize(type) &&
                        address.stride > 0 && address.stride % size == 0 &&
                        address.stride / size <= kMaxStrideInElements;
  return is_small ? static_cast<unsigned>(address.stride / size) : 0;
}

// ---- Loads -------------------------------------------------------------------------------------

void MemoryWidener::emit_load(LoadInst& original) {
  if (shape(original.getPointerOperand()).is_uniform()) return plain_.emit_at_lane_0(original);
  // Relaxed loads are in no order with each other: those of all lanes may be one.
  if (original.isVolatile() || isStrongerThanMonotonic(original.getOrdering()))
    return plain_.emit_lane_by_lane(original);
  values_.define(original, GangValue::of_vector(load_lanes(original)));
}

Value* MemoryWidener::load_lanes(LoadInst& original) {
  Value* pointer = original.getPointerOperand();
  const Shape address = shape(pointer);
  // What both sides of a branch use is read before it.
  if (is_contiguous(address, original.getType())) {
    values_.base(pointer);
    if (!address.guarded) return load_contiguous(original);
    values_.deviation(pointer);
    return either(
        original, values_.guard(pointer), [&] { return load_contiguous(original); },
        [&] { return gather(original, values_.lanes_from_base(pointer)); });
  }
  Value* addresses = values_.vector(pointer);
  const unsigned step = small_step(address, original.getType());
  if (step == 0) return gather(original, addresses);
  if (mask_.is_all()) return load_and_pick(original, step);
  return either(
      original, mask_.has_all(builder_), [&] { return load_and_pick(original, step); },
      [&] { return gather(original, addresses); });
}

Value* MemoryWidener::load_contiguous(LoadInst& original) {
  Type* type = wide(original.getType());
  Value* address = values_.base(original.getPointerOperand());
  if (!mask_.is_all())
    return builder_.CreateMaskedLoad(type, address, original.getAlign(), mask_.vector(), PoisonValue::get(type),
                                     original.getName());
  LoadInst* load = builder_.CreateAlignedLoad(type, address, original.getAlign(), original.getName());
  load->copyMetadata(original, {LLVMContext::MD_invariant_load, LLVMContext::MD_nontemporal});
  return load;
}

// All elements between the first and the last lane's, of which every n-th is kept. Reads no page that no lane reads.
Value* MemoryWidener::load_and_pick(LoadInst& original, unsigned step) {
  auto* span = FixedVectorType::get(original.getType(), (width_ - 1) * step + 1);
  Value* elements = builder_.CreateAlignedLoad(span, values_.base(original.getPointerOperand()), original.getAlign());
  SmallVector<int, 32> picked;
  for (unsigned lane = 0; lane < width_; ++lane) picked.push_back(static_cast<int>(lane * step));
  return builder_.CreateShuffleVector(elements, picked);
}

Value* MemoryWidener::gather(LoadInst& original, Value* addresses) {
  Type* type = wide(original.getType());
  return builder_.CreateMaskedGather(type, addresses, original.getAlign(), mask_.vector(), PoisonValue::get(type),
                                     original.getName());
}

Value* MemoryWidener::either(LoadInst& original, Value* condition, function_ref<Value*()> fast,
                             function_ref<Value*()> slow) {
  Type* type = wide(original.getType());
  AllocaInst* result = new_slot(gang_, type, original.getName());
  branch(
      builder_, condition, [&] { builder_.CreateStore(fast(), result); },
      [&] { builder_.CreateStore(slow(), result); });
  return builder_.CreateLoad(type, result);
}

// ---- Stores ------------------------------------------------------------------------------------

void MemoryWidener::emit_store(StoreInst& original) {
  Value* pointer = original.getPointerOperand();
  Value* stored = original.getValueOperand();
  const Shape address = shape(pointer);
  if (!original.isSimple() && !(address.is_uniform() && shape(stored).is_uniform()))
    return plain_.emit_lane_by_lane(original);
  if (address.is_uniform()) return store_to_one_place(original);
  Value* values = values_.vector(stored);
  const auto scatter = [&](Value* addresses) {
    builder_.CreateMaskedScatter(values, addresses, original.getAlign(), mask_.vector());
  };
  if (!is_contiguous(address, stored->getType())) return scatter(values_.vector(pointer));
  Value* base = values_.base(pointer);
  if (!address.guarded) return store_contiguous(values, base, original.getAlign());
  values_.deviation(pointer);  // read here, so that it is known on both sides
  branch(
      builder_, values_.guard(pointer), [&] { store_contiguous(values, base, original.getAlign()); },
      [&] { scatter(values_.lanes_from_base(pointer)); });
}

// Of several lanes that write one place, any may win: the last one does.
void MemoryWidener::store_to_one_place(StoreInst& original) {
  Value* stored = original.getValueOperand();
  Value* value = shape(stored).is_uniform()
                     ? values_.base(stored)
                     : builder_.CreateExtractElement(values_.vector(stored), mask_.last_lane(builder_));
  auto* copy = cast<StoreInst>(original.clone());
  copy->setOperand(0, value);
  copy->setOperand(1, values_.base(original.getPointerOperand()));
  builder_.Insert(copy);
}

// On some CPUs a masked store costs ten times a plain one, so the common case of a full mask is tested for.
void MemoryWidener::store_contiguous(Value* value, Value* address, Align alignment) {
  const auto store_all = [&] { builder_.CreateAlignedStore(value, address, alignment); };
  if (mask_.is_all()) return store_all();
  branch(builder_, mask_.has_all(builder_), store_all,
         [&] { builder_.CreateMaskedStore(value, address, alignment, mask_.vector()); });
}

// ---- Atomics -----------------------------------------------------------------------------------

void MemoryWidener::emit_atomic(Instruction& original) {
  if (auto* rmw = dyn_cast<AtomicRMWInst>(&original))
    if (emit_reduced_atomic(*rmw)) return;
  plain_.emit_lane_by_lane(original);
}

// Lanes that update one place and don't look at what was there: combine first, then update once.
bool MemoryWidener::emit_reduced_atomic(AtomicRMWInst& original) {
  if (!original.use_empty() || !shape(original.getPointerOperand()).is_uniform() || original.isVolatile()) return false;
  if (!is_reduction(original.getOperation())) return false;
  Value* combined = reduce_lanes(builder_, original.getOperation(), mask_, values_.vector(original.getValOperand()));
  auto* copy = cast<AtomicRMWInst>(original.clone());
  copy->setOperand(0, values_.base(original.getPointerOperand()));
  copy->setOperand(1, combined);
  builder_.Insert(copy);
  return true;
}

}  // namespace softgpu::simt
