#include "softgpu/simt/warp.hpp"

#include <stdexcept>

#include "softgpu/simt/lane_flow.hpp"
#include "softgpu/simt/lane_reduction.hpp"
#include "softgpu/simt/shuffle.hpp"

namespace softgpu::simt {

using namespace llvm;
using abi::Mark;

namespace {

AtomicRMWInst::BinOp operation_of(Mark mark) {
  switch (mark) {
    case Mark::redux_add: return AtomicRMWInst::Add;
    case Mark::redux_or: return AtomicRMWInst::Or;
    case Mark::redux_xor: return AtomicRMWInst::Xor;
    case Mark::redux_and: return AtomicRMWInst::And;
    case Mark::redux_max_s: return AtomicRMWInst::Max;
    case Mark::redux_min_s: return AtomicRMWInst::Min;
    case Mark::redux_max_u: return AtomicRMWInst::UMax;
    case Mark::redux_min_u: return AtomicRMWInst::UMin;
    default: throw std::logic_error("not a reduction over the warp: " + std::string(abi::info(mark).symbol));
  }
}

}  // namespace

void WarpWidener::emit(CallInst& original, Mark mark) {
  const auto put = [&](Value* value) {
    if (shape(&original).has_base())
      values_.define(original, GangValue::of_base(value));
    else
      values_.define(original, GangValue::of_vector(
                                   value->getType()->isVectorTy() ? value : builder_.CreateVectorSplat(width_, value)));
  };
  switch (mark) {
    case Mark::warp_sync: return;  // the lanes that run are always in step
    case Mark::activemask: return put(mask_.bits(builder_));
    case Mark::vote_all:
    case Mark::vote_any:
    case Mark::vote_uni:
    case Mark::vote_ballot: return put(vote(original, mark));
    case Mark::match_any_32:
    case Mark::match_any_64: return put(match(original));
    case Mark::match_all_32:
    case Mark::match_all_64: return put(match_all(original));
    case Mark::shfl_up:
    case Mark::shfl_down:
    case Mark::shfl_bfly:
    case Mark::shfl_idx:
    case Mark::shfl_up_p:
    case Mark::shfl_down_p:
    case Mark::shfl_bfly_p:
    case Mark::shfl_idx_p: return put(shuffle(original, mark));
    default: return put(reduce(original, mark));
  }
}

Value* WarpWidener::shuffle(CallInst& original, Mark mark) {
  SmallVector<Constant*, 32> numbers;
  for (unsigned i = 0; i < width_; ++i) numbers.push_back(builder_.getInt32(i));
  Value* lane = ConstantVector::get(numbers);
  // Lanes that are off may hold poison, which must not become an address.
  const auto settled = [&](unsigned argument) {
    Value* vector = values_.vector(original.getArgOperand(argument));
    return mask_.is_all() ? vector : builder_.CreateFreeze(vector);
  };
  const ShuffleSource source = shuffle_source(builder_, mark, lane, settled(1), settled(2));
  if (is_shuffle_predicate(mark)) return source.inside;
  return permute(values_.vector(original.getArgOperand(0)), builder_.CreateSelect(source.inside, source.lane, lane));
}

Value* WarpWidener::permute(Value* vector, Value* lanes) {
  if (auto* constant = dyn_cast<Constant>(lanes)) {
    SmallVector<int, 32> order;
    for (unsigned i = 0; i < width_; ++i) {
      const auto* element = dyn_cast_or_null<ConstantInt>(constant->getAggregateElement(i));
      order.push_back(element ? static_cast<int>(element->getZExtValue()) : 0);
    }
    return builder_.CreateShuffleVector(vector, order);
  }
  Type* element = vector->getType()->getScalarType();
  AllocaInst* memory = new_slot(gang_, vector->getType(), "exchange");
  builder_.CreateStore(vector, memory);
  Value* addresses = builder_.CreateGEP(element, memory, lanes);
  const Align alignment = gang_.getDataLayout().getABITypeAlign(element);
  return builder_.CreateMaskedGather(vector->getType(), addresses, alignment);
}

Value* WarpWidener::vote(CallInst& original, Mark mark) {
  Value* members_value = original.getArgOperand(1);
  Value* predicates = values_.vector(original.getArgOperand(0));
  Value* on = mask_.bits(builder_);
  Value* set = mask_.where(builder_, predicates).bits(builder_);
  // With the same members named by all lanes the result is one number, else one for each lane.
  const bool alike = shape(members_value).is_uniform();
  Value* members = alike ? values_.base(members_value) : values_.vector(members_value);
  if (!alike) {
    on = builder_.CreateVectorSplat(width_, on);
    set = builder_.CreateVectorSplat(width_, set);
  }
  on = builder_.CreateAnd(on, members);
  set = builder_.CreateAnd(set, members);
  Value* zero = Constant::getNullValue(set->getType());
  switch (mark) {
    case Mark::vote_ballot: return set;
    case Mark::vote_any: return builder_.CreateICmpNE(set, zero);
    case Mark::vote_all: return builder_.CreateICmpEQ(set, on);
    default: return builder_.CreateOr(builder_.CreateICmpEQ(set, on), builder_.CreateICmpEQ(set, zero));
  }
}

Value* WarpWidener::match(CallInst& original) {
  Value* values = values_.vector(original.getArgOperand(0));
  Value* members = values_.vector(original.getArgOperand(1));
  AllocaInst* result = new_slot(gang_, members->getType(), "matches");
  builder_.CreateStore(Constant::getNullValue(members->getType()), result);
  for_each_lane(builder_, mask_, [&](Value* lane) {
    Value* own = builder_.CreateVectorSplat(width_, builder_.CreateExtractElement(values, lane));
    const Mask equal = mask_.where(builder_, builder_.CreateICmpEQ(values, own));
    Value* bits = builder_.CreateAnd(equal.bits(builder_), builder_.CreateExtractElement(members, lane));
    Value* so_far = builder_.CreateLoad(members->getType(), result);
    builder_.CreateStore(builder_.CreateInsertElement(so_far, bits, lane), result);
  });
  return builder_.CreateLoad(members->getType(), result);
}

Value* WarpWidener::match_all(CallInst& original) {
  Value* same = match(original);
  Value* members = builder_.CreateAnd(values_.vector(original.getArgOperand(1)),
                                      builder_.CreateVectorSplat(width_, mask_.bits(builder_)));
  Value* none = Constant::getNullValue(same->getType());
  same = builder_.CreateSelect(builder_.CreateICmpEQ(same, members), same, none);
  if (!shape(&original).has_base()) return same;
  // Alike in all lanes that are on.
  return builder_.CreateExtractElement(same, mask_.first_lane(builder_));
}

Value* WarpWidener::reduce(CallInst& original, Mark mark) {
  const AtomicRMWInst::BinOp operation = operation_of(mark);
  Value* values = values_.vector(original.getArgOperand(0));
  Value* members_value = original.getArgOperand(1);
  const auto over = [&](Value* members) {
    const Mask chosen = mask_.where(builder_, builder_.CreateBitCast(members, wide(builder_.getInt1Ty())));
    return reduce_lanes(builder_, operation, chosen, values);
  };
  if (shape(members_value).is_uniform()) return over(values_.base(members_value));
  Value* members = values_.vector(members_value);
  AllocaInst* result = new_slot(gang_, values->getType(), "reduced");
  for_each_lane(builder_, mask_, [&](Value* lane) {
    Value* own = over(builder_.CreateExtractElement(members, lane));
    builder_.CreateStore(builder_.CreateInsertElement(builder_.CreateLoad(values->getType(), result), own, lane),
                         result);
  });
  return builder_.CreateLoad(values->getType(), result);
}

}  // namespace softgpu::simt
