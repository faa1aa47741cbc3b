// Rounding towards zero, down, up and to odd, from results to nearest and the sign of their errors.
//
// Floats are computed in double, where nothing overflows or underflows. For doubles the error is computed by
// error-free transformations; operands are scaled where it would underflow, and overflow is looked after.
#include "softgpu/lower/values/float_formats.hpp"

namespace softgpu::lower {

using llvm::Value;

namespace {

Value* fused(Builder& ir, Value* a, Value* b, Value* c) {
  return ir.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
}

Value* absolute(Builder& ir, Value* value) { return ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value); }

Value* is_finite(Builder& ir, Value* value) {
  return ir.CreateFCmpOLT(absolute(ir, value), number(value, __builtin_inf()));
}

Value* as_double(Builder& ir, Value* value) { return ir.CreateFPExt(value, ir.getDoubleTy()); }

// Where finite operands gave an infinity, the result lies beyond the exact one: the error points back.
Exact with_overflow(Builder& ir, const Exact& exact, std::initializer_list<Value*> operands) {
  Value* overflowed = ir.CreateNot(is_finite(ir, exact.value));
  for (Value* operand : operands) overflowed = ir.CreateAnd(overflowed, is_finite(ir, operand));
  return {exact.value, ir.CreateSelect(overflowed, ir.CreateFNeg(exact.value), exact.error)};
}

// Knuth's sum of two doubles that are far from overflow.
Exact short_sum(Builder& ir, Value* a, Value* b) {
  Value* sum = ir.CreateFAdd(a, b);
  Value* b_part = ir.CreateFSub(sum, a);
  Value* a_error = ir.CreateFSub(a, ir.CreateFSub(sum, b_part));
  return {sum, ir.CreateFAdd(a_error, ir.CreateFSub(b, b_part))};
}

// Dekker's: the larger operand first, free of overflow on the way.
Exact ordered_sum(Builder& ir, Value* a, Value* b) {
  Value* swapped = ir.CreateFCmpOLT(absolute(ir, a), absolute(ir, b));
  Value* large = ir.CreateSelect(swapped, b, a);
  Value* small = ir.CreateSelect(swapped, a, b);
  Value* sum = ir.CreateFAdd(large, small);
  return {sum, ir.CreateFSub(small, ir.CreateFSub(sum, large))};
}

// `factor` where the value is so small that an error would underflow, else 1.
Value* upscale(Builder& ir, Value* value, double threshold, double factor) {
  Value* small = ir.CreateFCmpOLT(absolute(ir, value), number(value, threshold));
  return ir.CreateSelect(small, number(value, factor), number(value, 1.0));
}

// A product that is lost beside a larger term counts by its sign alone: its factors are replaced by larger ones.
void make_visible(Builder& ir, Value*& x, Value*& y) {
  Value* zero = number(x, 0.0);
  Value* lost = ir.CreateFCmpOLT(absolute(ir, ir.CreateFMul(x, y)), number(x, 0x1p-960));
  lost = ir.CreateAnd(lost, ir.CreateAnd(ir.CreateFCmpONE(x, zero), ir.CreateFCmpONE(y, zero)));
  const auto enlarged = [&](Value* factor) {
    Value* large = ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, number(factor, 0x1p-450), factor);
    return ir.CreateSelect(lost, large, factor);
  };
  x = enlarged(x);
  y = enlarged(y);
}

// Boldo and Muller: the error of a fused multiply-add is the sum of two doubles; its sign is that of the larger.
Exact fma_of_doubles(Builder& ir, Value* a, Value* b, Value* c) {
  Value* result = fused(ir, a, b, c);
  Value* scale = upscale(ir, result, 0x1p-800, 0x1p+600);
  Value* x = ir.CreateFMul(a, scale);
  Value* y = ir.CreateFMul(b, scale);
  Value* z = ir.CreateFMul(ir.CreateFMul(c, scale), scale);
  Value* r = ir.CreateFMul(ir.CreateFMul(result, scale), scale);

  make_visible(ir, x, y);
  Value* product = ir.CreateFMul(x, y);
  Value* product_error = fused(ir, x, y, ir.CreateFNeg(product));
  const Exact low = ordered_sum(ir, z, product_error);
  const Exact high = ordered_sum(ir, product, low.value);
  Value* rest = ir.CreateFAdd(ir.CreateFSub(high.value, r), high.error);
  return with_overflow(ir, {result, ir.CreateFAdd(rest, low.error)}, {a, b, c});
}

// The remainder of a division to nearest, seen from the divisor's sign, has the sign of the error.
Value* quotient_error(Builder& ir, Value* quotient, Value* a, Value* b) {
  Value* remainder = fused(ir, ir.CreateFNeg(quotient), b, a);
  return ir.CreateSelect(ir.CreateFCmpOLT(b, number(b, 0.0)), ir.CreateFNeg(remainder), remainder);
}

Value* root_error(Builder& ir, Value* root, Value* a) { return fused(ir, ir.CreateFNeg(root), root, a); }

// A number of the same sign, smaller than the distance of any two results of floats; zero for zero.
Value* trifle(Builder& ir, Value* error) {
  Value* tiny = ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, number(error, 0x1p-1000), error);
  return ir.CreateSelect(ir.CreateFCmpONE(error, number(error, 0.0)), tiny, number(error, 0.0));
}

}  // namespace

Exact exact_sum(Builder& ir, Value* a, Value* b) {
  if (a->getType()->isFloatTy()) return short_sum(ir, as_double(ir, a), as_double(ir, b));
  return with_overflow(ir, ordered_sum(ir, a, b), {a, b});
}

Exact exact_product(Builder& ir, Value* a, Value* b) {
  if (a->getType()->isFloatTy()) {
    Value* product = ir.CreateFMul(as_double(ir, a), as_double(ir, b));
    return {product, number(product, 0.0)};
  }
  Value* product = ir.CreateFMul(a, b);
  Value* scale = upscale(ir, product, 0x1p-900, 0x1p+600);
  Value* scaled = ir.CreateFMul(ir.CreateFMul(product, scale), scale);
  Value* error = fused(ir, ir.CreateFMul(a, scale), ir.CreateFMul(b, scale), ir.CreateFNeg(scaled));
  return with_overflow(ir, {product, error}, {a, b});
}

Exact exact_fma(Builder& ir, Value* a, Value* b, Value* c) {
  if (!a->getType()->isFloatTy()) return fma_of_doubles(ir, a, b, c);
  return short_sum(ir, ir.CreateFMul(as_double(ir, a), as_double(ir, b)), as_double(ir, c));
}

Exact exact_quotient(Builder& ir, Value* a, Value* b) {
  if (a->getType()->isFloatTy()) {
    Value* x = as_double(ir, a);
    Value* y = as_double(ir, b);
    Value* quotient = ir.CreateFDiv(x, y);
    return {quotient, trifle(ir, quotient_error(ir, quotient, x, y))};
  }
  Value* quotient = ir.CreateFDiv(a, b);
  Value* scale = upscale(ir, a, 0x1p-900, 0x1p+500);
  Value* error = quotient_error(ir, ir.CreateFMul(quotient, scale), ir.CreateFMul(a, scale), b);
  const Exact result = with_overflow(ir, {quotient, error}, {a, b});
  Value* by_zero = ir.CreateFCmpOEQ(b, number(b, 0.0));  // an exact infinity
  return {quotient, ir.CreateSelect(by_zero, number(b, 0.0), result.error)};
}

Exact exact_root(Builder& ir, Value* a) {
  if (a->getType()->isFloatTy()) {
    Value* x = as_double(ir, a);
    Value* root = ir.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
    return {root, trifle(ir, root_error(ir, root, x))};
  }
  Value* root = ir.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a);
  Value* scale = upscale(ir, a, 0x1p-500, 0x1p+300);
  Value* scaled = ir.CreateFMul(ir.CreateFMul(a, scale), scale);
  return {root, root_error(ir, ir.CreateFMul(root, scale), scaled)};
}

Exact signed_zero(Builder& ir, const Exact& sum, Value* x, Value* y) {
  Value* zero = number(sum.value, 0.0);
  Value* is_zero = ir.CreateAnd(ir.CreateFCmpOEQ(sum.value, zero), ir.CreateFCmpUEQ(sum.error, zero));
  Value* signs = ir.CreateOr(to_bits(ir, x), to_bits(ir, y));
  Value* negative = ir.CreateICmpSLT(signs, llvm::ConstantInt::get(signs->getType(), 0));
  return {ir.CreateSelect(ir.CreateAnd(is_zero, negative), number(zero, -0.0), sum.value), sum.error};
}

// Numbers of one sign are ordered as their bits are, so the neighbour is one bit pattern away.
Value* step(Builder& ir, Value* nearest, Value* above, Value* below, Rounding rounding) {
  Value* bits = to_bits(ir, nearest);
  llvm::Type* type = bits->getType();
  Value* one = llvm::ConstantInt::get(type, 1);
  Value* sign = ir.CreateAShr(bits, type->getIntegerBitWidth() - 1);  // 0 or -1
  Value* upwards = ir.CreateOr(sign, one);  // what the bits of the next larger number differ by
  Value* negative = ir.CreateICmpSLT(bits, llvm::ConstantInt::get(type, 0));
  Value* too_large = ir.CreateSelect(negative, below, above);  // in magnitude
  Value* moved = bits;
  switch (rounding) {
    case Rounding::nearest: break;
    case Rounding::zero: moved = ir.CreateSelect(too_large, ir.CreateSub(bits, one), bits); break;
    case Rounding::down: moved = ir.CreateSelect(above, ir.CreateSub(bits, upwards), bits); break;
    case Rounding::up: moved = ir.CreateSelect(below, ir.CreateAdd(bits, upwards), bits); break;
    case Rounding::odd: {
      Value* inexact_even = ir.CreateAnd(ir.CreateOr(above, below), ir.CreateNot(ir.CreateTrunc(bits, ir.getInt1Ty())));
      Value* odd = ir.CreateSelect(too_large, ir.CreateSub(bits, one), ir.CreateAdd(bits, one));
      moved = ir.CreateSelect(inexact_even, odd, bits);
    }
  }
  return from_bits(ir, moved, nearest->getType());
}

// The distance between a double and the nearest float is a double, to be compared with what the double lacks.
Value* round_exact(Builder& ir, const Exact& exact, llvm::Type* type, Rounding rounding) {
  Value* nearest = type->isFloatTy() ? ir.CreateFPTrunc(exact.value, type) : exact.value;
  Value* excess = type->isFloatTy() ? ir.CreateFSub(as_double(ir, nearest), exact.value) : number(exact.error, 0.0);
  return step(ir, nearest, ir.CreateFCmpOGT(excess, exact.error), ir.CreateFCmpOLT(excess, exact.error), rounding);
}

}  // namespace softgpu::lower
