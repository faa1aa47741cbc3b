#include "softgpu/lower/values/float_formats.hpp"

#include <llvm/IR/InstIterator.h>

namespace softgpu::lower {

using llvm::Value;
using ptx::Type;

namespace {

Value* bfloat_to_float(Builder& ir, Value* bits) {
  return ir.CreateBitCast(ir.CreateShl(ir.CreateZExt(bits, ir.getInt32Ty()), 16), ir.getFloatTy());
}

}  // namespace

Value* widen(Builder& ir, Value* element, Type element_type) {
  if (element_type == Type::f16) return ir.CreateFPExt(element, ir.getFloatTy());
  if (element_type == Type::bf16) return bfloat_to_float(ir, element);
  return element;
}

Value* narrow(Builder& ir, Value* value, Type element_type) {
  if (element_type == Type::f16) return ir.CreateFPTrunc(value, ir.getHalfTy());
  if (element_type == Type::bf16) return round_to_bfloat(ir, value, Rounding::nearest);
  return value;
}

Value* near_half(Builder& ir, Value* value) {
  Value* limit = number(value, 0x1p17);
  Value* opposite = number(value, -0x1p17);
  Value* from_above = ir.CreateSelect(ir.CreateFCmpOGT(value, limit), limit, value);
  return ir.CreateSelect(ir.CreateFCmpOLT(from_above, opposite), opposite, from_above);
}

void keep_integers_near_half(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* shorter = llvm::dyn_cast<llvm::FPTruncInst>(&instruction);
    if (!shorter || !shorter->getType()->isHalfTy() ||
        !llvm::isa<llvm::SIToFPInst, llvm::UIToFPInst>(shorter->getOperand(0)))
      continue;
    Builder ir(shorter);
    shorter->setOperand(0, near_half(ir, shorter->getOperand(0)));
  }
}

Value* saturate(Builder& ir, Value* value) {
  Value* zero = number(value, 0.0);
  Value* one = number(value, 1.0);
  Value* at_least_zero = ir.CreateSelect(ir.CreateFCmpOGT(value, zero), value, zero);
  return ir.CreateSelect(ir.CreateFCmpOLT(at_least_zero, one), at_least_zero, one);
}

Value* relu(Builder& ir, Value* value) {
  Value* zero = number(value, 0.0);
  return ir.CreateSelect(ir.CreateFCmpOLE(value, zero), zero, value);
}

Value* round_to_half(Builder& ir, Value* value, Rounding rounding) {
  if (value->getType()->isDoubleTy())
    value = round_exact(ir, {value, number(value, 0.0)}, ir.getFloatTy(), Rounding::odd);
  Value* nearest = ir.CreateFPTrunc(value, ir.getHalfTy());
  if (rounding == Rounding::nearest) return nearest;
  Value* back = ir.CreateFPExt(nearest, ir.getFloatTy());
  return step(ir, nearest, ir.CreateFCmpOGT(back, value), ir.CreateFCmpOLT(back, value), rounding);
}

// The upper half of a float, rounded by its lower half. A carry out of the mantissa goes to the exponent, as it should.
Value* round_to_bfloat(Builder& ir, Value* single, Rounding rounding) {
  Value* bits = to_bits(ir, single);
  Value* sign = ir.CreateAShr(bits, 31);  // all ones for negative numbers
  Value* increment = ir.getInt32(0);
  switch (rounding) {
    case Rounding::nearest:
      increment = ir.CreateAdd(ir.CreateAnd(ir.CreateLShr(bits, 16), ir.getInt32(1)), ir.getInt32(0x7fff));
      break;
    case Rounding::down: increment = ir.CreateAnd(sign, ir.getInt32(0xffff)); break;
    case Rounding::up: increment = ir.CreateAnd(ir.CreateNot(sign), ir.getInt32(0xffff)); break;
    default: break;
  }
  Value* rounded = ir.CreateTrunc(ir.CreateLShr(ir.CreateAdd(bits, increment), 16), ir.getInt16Ty());
  return ir.CreateSelect(ir.CreateFCmpUNO(single, single), ir.getInt16(0x7fff), rounded);
}

}  // namespace softgpu::lower
