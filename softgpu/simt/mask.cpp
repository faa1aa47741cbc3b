#include "softgpu/simt/mask.hpp"

#include "llvm/IR/Constants.h"

namespace softgpu::simt {

using namespace llvm;

namespace {

Type* mask_type(LLVMContext& context, unsigned width) { return FixedVectorType::get(Type::getInt1Ty(context), width); }

}  // namespace

Mask Mask::all(LLVMContext& context, unsigned width) {
  return Mask(Constant::getAllOnesValue(mask_type(context, width)));
}

Mask Mask::none(LLVMContext& context, unsigned width) {
  return Mask(Constant::getNullValue(mask_type(context, width)));
}

Mask Mask::first(IRBuilder<>& builder, Value* count, unsigned width) {
  Value* limit = builder.CreateVectorSplat(width, count);
  SmallVector<Constant*, 32> numbers;
  for (unsigned i = 0; i < width; ++i) numbers.push_back(builder.getInt32(i));
  return Mask(builder.CreateICmpULT(ConstantVector::get(numbers), limit, "threads_on"));
}

bool Mask::is_all() const {
  const auto* constant = dyn_cast<Constant>(lanes_);
  return constant && constant->isAllOnesValue();
}

unsigned Mask::width() const { return cast<FixedVectorType>(lanes_->getType())->getNumElements(); }

Value* Mask::bits(IRBuilder<>& builder) const { return builder.CreateBitCast(lanes_, builder.getIntNTy(width())); }

Value* Mask::has_any(IRBuilder<>& builder) const { return builder.CreateIsNotNull(bits(builder)); }

Value* Mask::has_all(IRBuilder<>& builder) const {
  Value* on = bits(builder);
  return builder.CreateICmpEQ(on, Constant::getAllOnesValue(on->getType()));
}

Value* Mask::count(IRBuilder<>& builder) const {
  Value* on = builder.CreateZExt(bits(builder), builder.getInt64Ty());
  return builder.CreateZExtOrTrunc(builder.CreateUnaryIntrinsic(Intrinsic::ctpop, on), builder.getInt32Ty());
}

Value* Mask::first_lane(IRBuilder<>& builder) const {
  return builder.CreateBinaryIntrinsic(Intrinsic::cttz, bits(builder), builder.getTrue());
}

Value* Mask::last_lane(IRBuilder<>& builder) const {
  Value* on = bits(builder);
  Value* zeros = builder.CreateBinaryIntrinsic(Intrinsic::ctlz, on, builder.getTrue());
  return builder.CreateSub(ConstantInt::get(on->getType(), width() - 1), zeros);
}

// A select rather than an and: where lanes are off the condition may be poison.
Mask Mask::where(IRBuilder<>& builder, Value* condition) const {
  if (is_all()) return Mask(condition);
  return Mask(builder.CreateSelect(lanes_, condition, Constant::getNullValue(condition->getType())));
}

Value* Mask::choose(IRBuilder<>& builder, Value* on, Value* off) const {
  if (is_all()) return on;
  if (!off->getType()->isVectorTy()) off = builder.CreateVectorSplat(width(), off);
  return builder.CreateSelect(lanes_, on, off);
}

}  // namespace softgpu::simt
