// Floating-point arithmetic. Rounding to nearest is LLVM's own; the other modes are made from exact results.
#include "softgpu/lower/floating_point/float_modifiers.hpp"
#include "softgpu/lower/floating_point/floating_point.hpp"
#include "softgpu/lower/values/flush.hpp"

namespace softgpu::lower {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Type;

Value* rounded_sum(FunctionLowering& f, const Instruction& i, Value* a, Value* b) {
  const Rounding rounding = rounding_of(i);
  if (rounding == Rounding::nearest) return f.ir.CreateFAdd(a, b);
  Exact sum = exact_sum(f.ir, a, b);
  if (rounding == Rounding::down) sum = signed_zero(f.ir, sum, a, b);
  return round_exact(f.ir, sum, a->getType(), rounding);
}

Value* rounded_product(FunctionLowering& f, const Instruction& i, Value* a, Value* b) {
  const Rounding rounding = rounding_of(i);
  // The product of two bfloat16 can be subnormal as a float, and would then be rounded twice.
  if (element_of(i.types[0]) == Type::bf16)
    return round_exact(f.ir, exact_product(f.ir, a, b), a->getType(), Rounding::odd);
  if (rounding == Rounding::nearest) return f.ir.CreateFMul(a, b);
  return round_exact(f.ir, exact_product(f.ir, a, b), a->getType(), rounding);
}

Value* rounded_fma(FunctionLowering& f, const Instruction& i, Value* a, Value* b, Value* c) {
  const Type element = element_of(i.types[0]);
  if (element == Type::f16 || element == Type::bf16)
    return round_exact(f.ir, exact_fma(f.ir, a, b, c), a->getType(), Rounding::odd);
  const Rounding rounding = rounding_of(i);
  if (rounding == Rounding::nearest) return f.intrinsic(llvm::Intrinsic::fma, {a, b, c});
  Exact sum = exact_fma(f.ir, a, b, c);
  if (rounding == Rounding::down) sum = signed_zero(f.ir, sum, f.ir.CreateFMul(a, b), c);
  return round_exact(f.ir, sum, a->getType(), rounding);
}

Value* rounded_quotient(FunctionLowering& f, const Instruction& i, Value* a, Value* b) {
  const Rounding rounding = rounding_of(i);
  if (rounding == Rounding::nearest) return f.ir.CreateFDiv(a, b);
  return round_exact(f.ir, exact_quotient(f.ir, a, b), a->getType(), rounding);
}

// div.approx is documented to flush for the largest divisors: 0, and NaN for an infinite dividend.
Value* approximate_quotient(FunctionLowering& f, Value* a, Value* b) {
  Builder& ir = f.ir;
  Value* size = ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, b);
  Value* huge =
      ir.CreateAnd(ir.CreateFCmpOGT(size, number(b, 0x1p+126)), ir.CreateFCmpOLT(size, number(b, __builtin_inf())));
  Value* zero = ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, number(b, 0.0), b);
  return ir.CreateSelect(huge, ir.CreateFMul(a, zero), ir.CreateFDiv(a, b));
}

// f64 approximations see and give the upper 32 bits only.
Value* upper_word(FunctionLowering& f, Value* value) {
  Value* bits = f.ir.CreateAnd(to_bits(f.ir, value), f.ir.getInt64(0xffffffff00000000));
  return from_bits(f.ir, bits, value->getType());
}

bool is_zero_constant(Value* value, bool negative) {
  auto* constant = llvm::dyn_cast<llvm::ConstantFP>(value);
  return constant && constant->isZero() && constant->isNegative() == negative;
}

bool is_number_constant(Value* value) {
  auto* constant = llvm::dyn_cast<llvm::ConstantFP>(value);
  return constant && !constant->isNaN();
}

// The operand that is a number wins over a NaN, and -0 is less than +0, which LLVM's minnum and maxnum leave open. With
// a constant one comparison does it, unless the constant is the zero that would have to lose against the other zero.
Value* number_min_max(FunctionLowering& f, Value* a, Value* b, bool is_min) {
  Builder& ir = f.ir;
  if (is_number_constant(a)) std::swap(a, b);
  if (is_number_constant(b) && !is_zero_constant(b, !is_min)) {
    Value* better = is_min ? ir.CreateFCmpOLT(a, b) : ir.CreateFCmpOGT(a, b);
    return ir.CreateSelect(better, a, b);
  }
  Value* result = f.intrinsic(is_min ? llvm::Intrinsic::minnum : llvm::Intrinsic::maxnum, {a, b});
  Value* x = to_bits(ir, a);
  Value* y = to_bits(ir, b);
  Value* of_equals = from_bits(ir, is_min ? ir.CreateOr(x, y) : ir.CreateAnd(x, y), a->getType());
  return ir.CreateSelect(ir.CreateFCmpOEQ(a, b), of_equals, result);
}

Value* canonical_nan(Builder& ir) { return from_bits(ir, ir.getInt32(0x7fffffff), ir.getFloatTy()); }

// LLVM's minimum and maximum, which are .NaN's, are none of halves: it narrows them, and then its code for x86 takes a
// NaN beside a zero for a zero.
void min_max(FunctionLowering& f, const Instruction& i, bool is_min) {
  Builder& ir = f.ir;
  for_each_float_pair(f, i, [&](Value* a, Value* b) {
    Value* sign = nullptr;
    if (i.has(Modifier::xorsign)) {
      sign = from_bits(ir, ir.CreateXor(to_bits(ir, a), to_bits(ir, b)), a->getType());
      a = ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a);
      b = ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, b);
    }
    Value* result = number_min_max(f, a, b, is_min);
    if (sign) result = ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, sign);
    return i.has(Modifier::NaN) ? ir.CreateSelect(ir.CreateFCmpUNO(a, b), canonical_nan(ir), result) : result;
  });
}

// abs and neg touch the sign bit only, also of a NaN. Short formats change it as integers: LLVM would widen a half.
template <typename OfFloat, typename OfBits>
void change_sign(FunctionLowering& f, const Instruction& i, OfFloat of_float, OfBits of_bits) {
  const Type type = i.types[0];
  const Type element_type = element_of(type);
  Elements results;
  for (Value* element : split(f, f.read(i.operands[1], type), type)) {
    if (i.has(Modifier::ftz))
      element = narrow(f.ir, flush(f.ir, widen(f.ir, element, element_type), element_type), element_type);
    results.push_back(ptx::bits(element_type) == 16 ? of_bits(to_bits(f.ir, element)) : of_float(element));
  }
  f.write(i.operands[0], join(f, results), type);
}

}  // namespace

void lower_float_add(FunctionLowering& f, const Instruction& i) {
  for_each_float_pair(f, i, [&](Value* a, Value* b) { return rounded_sum(f, i, a, b); });
}

void lower_float_sub(FunctionLowering& f, const Instruction& i) {
  for_each_float_pair(f, i, [&](Value* a, Value* b) {
    return rounding_of(i) == Rounding::nearest ? f.ir.CreateFSub(a, b) : rounded_sum(f, i, a, f.ir.CreateFNeg(b));
  });
}

void lower_float_mul(FunctionLowering& f, const Instruction& i) {
  for_each_float_pair(f, i, [&](Value* a, Value* b) { return rounded_product(f, i, a, b); });
}

void lower_fma(FunctionLowering& f, const Instruction& i) {
  const Elements a = read_sources(f, i.operands[1], i);
  const Elements b = read_sources(f, i.operands[2], i);
  const Elements c = read_sources(f, i.operands[3], i);
  Elements results;
  for (std::size_t k = 0; k < a.size(); ++k) results.push_back(rounded_fma(f, i, a[k], b[k], c[k]));
  write_results(f, i, std::move(results));
}

namespace {

// GPUs flush a float's quotient that is below the normal numbers even if rounding up would make it one.
Value* flush_in_front_of_rounding(FunctionLowering& f, Value* rounded, Value* a, Value* b) {
  llvm::Type* wide = f.ir.getDoubleTy();
  Value* quotient = f.ir.CreateFDiv(f.ir.CreateFPExt(a, wide), f.ir.CreateFPExt(b, wide));
  Value* size = f.ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, quotient);
  Value* zero = f.ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, number(rounded, 0.0), rounded);
  return f.ir.CreateSelect(f.ir.CreateFCmpOLT(size, number(size, 0x1p-126)), zero, rounded);
}

}  // namespace

void lower_float_div(FunctionLowering& f, const Instruction& i) {
  const bool may_round_up = i.has(Modifier::rm) || i.has(Modifier::rp);
  for_each_float_pair(f, i, [&](Value* a, Value* b) {
    if (i.has(Modifier::approx)) return approximate_quotient(f, a, b);
    Value* result = rounded_quotient(f, i, a, b);
    return i.has(Modifier::ftz) && may_round_up ? flush_in_front_of_rounding(f, result, a, b) : result;
  });
}

void lower_rcp(FunctionLowering& f, const Instruction& i) {
  const bool upper_only = i.has(Modifier::approx) && i.types[0] == Type::f64;
  for_each_float(f, i, [&](Value* a) {
    if (upper_only) return upper_word(f, f.ir.CreateFDiv(number(a, 1.0), upper_word(f, a)));
    return rounded_quotient(f, i, number(a, 1.0), a);
  });
}

void lower_sqrt(FunctionLowering& f, const Instruction& i) {
  for_each_float(f, i, [&](Value* a) -> Value* {
    const Rounding rounding = rounding_of(i);
    if (rounding == Rounding::nearest) return f.ir.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a);
    return round_exact(f.ir, exact_root(f.ir, a), a->getType(), rounding);
  });
}

void lower_rsqrt(FunctionLowering& f, const Instruction& i) {
  // rsqrt.approx.ftz.f64 works on the upper words; without .ftz it has the precision of a double, and CUDA's Bessel
  // functions count on that.
  const bool upper_only = i.types[0] == Type::f64 && i.has(Modifier::ftz);
  for_each_float(f, i, [&](Value* a) {
    if (upper_only) a = upper_word(f, a);
    Value* result = f.ir.CreateFDiv(number(a, 1.0), f.ir.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a));
    return upper_only ? upper_word(f, result) : result;
  });
}

void lower_float_abs(FunctionLowering& f, const Instruction& i) {
  change_sign(
      f, i, [&](Value* value) { return f.ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value); },
      [&](Value* bits) { return f.ir.CreateAnd(bits, f.ir.getInt16(0x7fff)); });
}

void lower_float_neg(FunctionLowering& f, const Instruction& i) {
  change_sign(
      f, i, [&](Value* value) { return f.ir.CreateFNeg(value); },
      [&](Value* bits) { return f.ir.CreateXor(bits, f.ir.getInt16(0x8000)); });
}

void lower_float_min(FunctionLowering& f, const Instruction& i) { min_max(f, i, true); }

void lower_float_max(FunctionLowering& f, const Instruction& i) { min_max(f, i, false); }

// The sign of a on the value of b.
void lower_copysign(FunctionLowering& f, const Instruction& i) {
  Value* a = f.read(i.operands[1], i.types[0]);
  Value* b = f.read(i.operands[2], i.types[0]);
  f.write(i.operands[0], f.ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, b, a), i.types[0]);
}

void lower_testp(FunctionLowering& f, const Instruction& i) {
  Builder& ir = f.ir;
  Value* a = f.read(i.operands[1], i.types[0]);
  Value* size = ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a);
  Value* infinity = number(a, __builtin_inf());
  Value* subnormal = ir.CreateAnd(ir.CreateFCmpOGT(size, number(a, 0.0)),
                                  ir.CreateFCmpOLT(size, number(a, i.types[0] == Type::f64 ? 0x1p-1022 : 0x1p-126)));
  Value* finite = ir.CreateFCmpOLT(size, infinity);
  Value* result = nullptr;
  if (i.has(Modifier::finite)) result = finite;
  if (i.has(Modifier::infinite)) result = ir.CreateFCmpOEQ(size, infinity);
  if (i.has(Modifier::number)) result = ir.CreateFCmpORD(a, a);
  if (i.has(Modifier::notanumber)) result = ir.CreateFCmpUNO(a, a);
  if (i.has(Modifier::normal)) result = ir.CreateAnd(finite, ir.CreateNot(subnormal));  // zero counts as normal
  if (i.has(Modifier::subnormal)) result = subnormal;
  f.write(i.operands[0], result, Type::pred);
}

}  // namespace softgpu::lower
