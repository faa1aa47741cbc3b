#include "softgpu/simt/lane_reduction.hpp"

#include <stdexcept>

namespace softgpu::simt {

using namespace llvm;

namespace {

struct Reduction {
  Intrinsic::ID intrinsic;
  APInt identity;
};

Reduction reduction_of(AtomicRMWInst::BinOp operation, unsigned bits) {
  switch (operation) {
    case AtomicRMWInst::Add: return {Intrinsic::vector_reduce_add, APInt::getZero(bits)};
    case AtomicRMWInst::Or: return {Intrinsic::vector_reduce_or, APInt::getZero(bits)};
    case AtomicRMWInst::Xor: return {Intrinsic::vector_reduce_xor, APInt::getZero(bits)};
    case AtomicRMWInst::And: return {Intrinsic::vector_reduce_and, APInt::getAllOnes(bits)};
    case AtomicRMWInst::Max: return {Intrinsic::vector_reduce_smax, APInt::getSignedMinValue(bits)};
    case AtomicRMWInst::Min: return {Intrinsic::vector_reduce_smin, APInt::getSignedMaxValue(bits)};
    case AtomicRMWInst::UMax: return {Intrinsic::vector_reduce_umax, APInt::getMinValue(bits)};
    case AtomicRMWInst::UMin: return {Intrinsic::vector_reduce_umin, APInt::getMaxValue(bits)};
    default: return {Intrinsic::not_intrinsic, APInt::getZero(bits)};
  }
}

}  // namespace

bool is_reduction(AtomicRMWInst::BinOp operation) {
  return reduction_of(operation, 32).intrinsic != Intrinsic::not_intrinsic;
}

Value* reduce_lanes(IRBuilder<>& builder, AtomicRMWInst::BinOp operation, const Mask& mask, Value* vector) {
  const Reduction reduction = reduction_of(operation, vector->getType()->getScalarSizeInBits());
  if (reduction.intrinsic == Intrinsic::not_intrinsic) throw std::logic_error("not an operation to reduce lanes by");
  Value* identity = ConstantInt::get(builder.getContext(), reduction.identity);
  return builder.CreateUnaryIntrinsic(reduction.intrinsic, mask.choose(builder, vector, identity));
}

}  // namespace softgpu::simt
