// cvt, by the kinds of its two types.
#include <algorithm>
#include <cmath>

#include "softgpu/lower/floating_point/elementwise.hpp"
#include "softgpu/lower/floating_point/float_modifiers.hpp"
#include "softgpu/lower/floating_point/floating_point.hpp"
#include "softgpu/lower/values/float8.hpp"
#include "softgpu/lower/values/flush.hpp"

namespace softgpu::lower {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Type;

// ---- integer to integer

// Clamps in the source's own type to what both types hold; bounds that the source can't pass are left out.
Value* clamp_integer(FunctionLowering& f, Value* value, Type from, Type to) {
  const unsigned width = ptx::bits(from), wide = 65;  // where every value of both types is a signed number
  const auto lowest = [&](Type type) {
    return ptx::is_signed(type) ? llvm::APInt::getSignedMinValue(ptx::bits(type)).sext(wide) : llvm::APInt(wide, 0);
  };
  const auto highest = [&](Type type) {
    return (ptx::is_signed(type) ? llvm::APInt::getSignedMaxValue(ptx::bits(type))
                                 : llvm::APInt::getMaxValue(ptx::bits(type)))
        .zext(wide);
  };
  if (lowest(to).sgt(lowest(from)))
    value = f.intrinsic(llvm::Intrinsic::smax, {value, f.ir.getInt(lowest(to).trunc(width))});
  if (highest(to).slt(highest(from)))
    value = f.intrinsic(ptx::is_signed(from) ? llvm::Intrinsic::smin : llvm::Intrinsic::umin,
                        {value, f.ir.getInt(highest(to).trunc(width))});
  return resize(f.ir, value, ptx::bits(to), ptx::is_signed(from));
}

void integer_to_integer(FunctionLowering& f, const Instruction& i) {
  const Type to = i.types[0], from = i.types[1];
  Value* value = f.read(i.operands[1], from);
  value = i.has(Modifier::sat) ? clamp_integer(f, value, from, to)
                               : resize(f.ir, value, ptx::bits(to), ptx::is_signed(from));
  f.write(i.operands[0], value, to);
}

// The second source to the lower half, the first above it, and above both what fits of the third.
void integers_to_pack(FunctionLowering& f, const Instruction& i) {
  const Type to = i.types[0], from = i.types[1];
  const unsigned width = ptx::bits(to);
  const auto field = [&](const ptx::Operand& source) {
    return f.ir.CreateZExt(clamp_integer(f, f.read(source, from), from, to), f.ir.getInt32Ty());
  };
  Value* high = f.ir.CreateShl(field(i.operands[1]), width);
  Value* packed = f.ir.CreateOr(high, field(i.operands[2]));
  if (width < 16) packed = f.ir.CreateOr(packed, f.ir.CreateShl(f.read(i.operands[3], Type::b32), 2 * width));
  f.write(i.operands[0], packed, Type::b32);
}

// ---- float to integer

Value* to_integral(FunctionLowering& f, Value* value, const Instruction& i) {
  if (i.has(Modifier::rni)) return f.ir.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, value);
  if (i.has(Modifier::rzi)) return f.ir.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, value);
  if (i.has(Modifier::rmi)) return f.ir.CreateUnaryIntrinsic(llvm::Intrinsic::floor, value);
  if (i.has(Modifier::rpi)) return f.ir.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, value);
  return value;
}

// The integer of an integral number; out of range the nearest one in range. What LLVM leaves undefined is never
// selected. (Its own saturating conversion would be done lane by lane.)
Value* saturated_integer(FunctionLowering& f, Value* value, Type to, Value* if_nan) {
  Builder& ir = f.ir;
  const unsigned width = ptx::bits(to);
  const bool sign = ptx::is_signed(to);
  llvm::Type* converted_type = ir.getIntNTy(std::max(width, 32u));
  Value* integer = sign || width < 32 ? ir.CreateFPToSI(value, converted_type) : ir.CreateFPToUI(value, converted_type);
  integer = resize(ir, integer, width, false);
  const llvm::APInt lowest = sign ? llvm::APInt::getSignedMinValue(width) : llvm::APInt(width, 0);
  const llvm::APInt highest = sign ? llvm::APInt::getSignedMaxValue(width) : llvm::APInt::getMaxValue(width);
  const double past_end = std::ldexp(1.0, static_cast<int>(sign ? width - 1 : width));
  const double start = sign ? -past_end : 0.0;
  integer = ir.CreateSelect(ir.CreateFCmpOGE(value, number(value, past_end)), ir.getInt(highest), integer);
  integer = ir.CreateSelect(ir.CreateFCmpOLT(value, number(value, start)), ir.getInt(lowest), integer);
  return ir.CreateSelect(ir.CreateFCmpUNO(value, value), if_nan, integer);
}

// NaN is 0, but where 64 bits come in or go out it is the integer with only the top bit set.
void float_to_integer(FunctionLowering& f, const Instruction& i) {
  Builder& ir = f.ir;
  const Type to = i.types[0], from = i.types[1];
  Value* value = widen(ir, f.read(i.operands[1], from), from);
  if (i.has(Modifier::ftz) && from == Type::f32) value = flush(ir, value, from);
  const unsigned width = ptx::bits(to);
  const bool has_64_bits = width == 64 || ptx::bits(from) == 64;
  Value* if_nan = ir.getInt(has_64_bits ? llvm::APInt::getSignMask(width) : llvm::APInt(width, 0));
  f.write(i.operands[0], saturated_integer(f, to_integral(f, value, i), to, if_nan), to);
}

// ---- integer to float

// The nearest float or double, then one step where its integer value lies on the wrong side.
Value* integer_to_binary(FunctionLowering& f, Value* integer, bool sign, llvm::Type* type, Rounding rounding) {
  Builder& ir = f.ir;
  Value* nearest = sign ? ir.CreateSIToFP(integer, type) : ir.CreateUIToFP(integer, type);
  if (rounding == Rounding::nearest) return nearest;
  Value* wide = resize(ir, integer, 64, sign);
  Value* back = saturated_integer(f, nearest, sign ? Type::s64 : Type::u64, ir.getInt64(0));
  Value* past_end = ir.CreateFCmpOGE(nearest, number(nearest, sign ? 0x1p63 : 0x1p64));
  Value* above = ir.CreateOr(past_end, sign ? ir.CreateICmpSGT(back, wide) : ir.CreateICmpUGT(back, wide));
  Value* below =
      ir.CreateAnd(ir.CreateNot(past_end), sign ? ir.CreateICmpSLT(back, wide) : ir.CreateICmpULT(back, wide));
  return step(ir, nearest, above, below, rounding);
}

Value* to_format(FunctionLowering& f, Value* value, Type to, Rounding rounding) {
  switch (to) {
    case Type::f16: return round_to_half(f.ir, value, rounding);
    case Type::bf16: {
      if (value->getType()->isDoubleTy())
        value = round_exact(f.ir, {value, number(value, 0.0)}, f.ir.getFloatTy(), Rounding::odd);
      return round_to_bfloat(f.ir, value, rounding);
    }
    case Type::f32:
      if (value->getType()->isFloatTy()) return value;
      if (rounding == Rounding::nearest) return f.ir.CreateFPTrunc(value, f.ir.getFloatTy());
      return round_exact(f.ir, {value, number(value, 0.0)}, f.ir.getFloatTy(), rounding);
    default: return value->getType()->isFloatTy() ? f.ir.CreateFPExt(value, f.ir.getDoubleTy()) : value;
  }
}

void integer_to_float(FunctionLowering& f, const Instruction& i) {
  Builder& ir = f.ir;
  const Type to = i.types[0], from = i.types[1];
  Value* integer = f.read(i.operands[1], from);
  const bool sign = ptx::is_signed(from);
  const bool is_short = to == Type::f16 || to == Type::bf16;
  llvm::Type* type = to == Type::f64 ? ir.getDoubleTy() : ir.getFloatTy();
  // To odd first, so that the second rounding is right.
  Value* value = integer_to_binary(f, integer, sign, type, is_short ? Rounding::odd : rounding_of(i));
  if (i.has(Modifier::sat)) value = saturate(ir, value);
  if (to == Type::f16) value = near_half(ir, value);
  f.write(i.operands[0], to_format(f, value, to, rounding_of(i)), to);
}

// ---- float to float

// .satfinite: the largest finite value in place of an infinity; a NaN becomes the format's canonical one.
Value* clamp_finite(FunctionLowering& f, Value* value, Type to) {
  Builder& ir = f.ir;
  const double largest = to == Type::f16 ? 65504.0 : to == Type::bf16 ? 0x1.fep127 : 0x1.ffcp127;
  Value* above = ir.CreateFCmpOGT(value, number(value, largest));
  Value* below = ir.CreateFCmpOLT(value, number(value, -largest));
  return ir.CreateSelect(above, number(value, largest), ir.CreateSelect(below, number(value, -largest), value));
}

// One number to a shorter format or a longer one.
Value* converted(FunctionLowering& f, Value* value, const Instruction& i, Type to) {
  if (i.has(Modifier::relu)) value = relu(f.ir, value);
  if (i.has(Modifier::satfinite)) value = clamp_finite(f, value, to);
  Value* result = to_format(f, value, to, rounding_of(i));
  return to == Type::f16 && i.types[1] != Type::f16 ? with_canonical_nan(f.ir, value, result) : result;
}

void float_to_float(FunctionLowering& f, const Instruction& i) {
  Builder& ir = f.ir;
  const Type to = i.types[0], from = i.types[1];
  Value* value = widen(ir, f.read(i.operands[1], from), from);
  const bool ftz = i.has(Modifier::ftz);  // is about subnormal floats only, not those of the other formats
  if (ftz && from == Type::f32) value = flush(ir, value, from);
  value = to_integral(f, value, i);
  if (i.has(Modifier::sat)) value = saturate(ir, value);
  Value* result = converted(f, value, i, to);
  if (ftz && to == Type::f32) result = flush(ir, result, to);
  f.write(i.operands[0], result, to);
}

// Two floats to a packed pair: the first source is the upper half.
void floats_to_pair(FunctionLowering& f, const Instruction& i) {
  const Type element = element_of(i.types[0]);
  Value* high = converted(f, f.read(i.operands[1], Type::f32), i, element);
  Value* low = converted(f, f.read(i.operands[2], Type::f32), i, element);
  f.write(i.operands[0], join(f, {low, high}), i.types[0]);
}

// Two floats, the first to the upper half, or a pair of halves, to a pair of 8-bit numbers.
void to_float8_pair(FunctionLowering& f, const Instruction& i) {
  Elements values = i.types[1] == Type::f16x2
                        ? read_floats(f, i.operands[1], Type::f16x2)
                        : Elements{f.read(i.operands[2], Type::f32), f.read(i.operands[1], Type::f32)};
  for (Value*& value : values) {
    if (i.has(Modifier::relu)) value = relu(f.ir, value);
    value = round_to_float8(f.ir, value, i.types[0]);
  }
  f.write(i.operands[0], join(f, values), Type::b16);
}

void from_float8_pair(FunctionLowering& f, const Instruction& i) {
  Value* pair = f.read(i.operands[1], Type::b16);
  Elements values{f.ir.CreateTrunc(pair, f.ir.getInt8Ty()),
                  f.ir.CreateTrunc(f.ir.CreateLShr(pair, 8), f.ir.getInt8Ty())};
  for (Value*& value : values) value = converted(f, float8_to_float(f.ir, value, i.types[1]), i, Type::f16);
  f.write(i.operands[0], join(f, values), Type::f16x2);
}

// tf32 is a float with 10 bits of mantissa; the other bits are zero.
void float_to_tf32(FunctionLowering& f, const Instruction& i) {
  Builder& ir = f.ir;
  Value* value = f.read(i.operands[1], Type::f32);
  if (i.has(Modifier::relu)) value = relu(ir, value);
  if (i.has(Modifier::satfinite)) value = clamp_finite(f, value, Type::tf32);
  Value* bits = to_bits(ir, value);
  Value* increment = ir.getInt32(0);
  if (i.has(Modifier::rna)) increment = ir.getInt32(0x1000);
  if (i.has(Modifier::rn))
    increment = ir.CreateAdd(ir.CreateAnd(ir.CreateLShr(bits, 13), ir.getInt32(1)), ir.getInt32(0xfff));
  Value* rounded = ir.CreateAnd(ir.CreateAdd(bits, increment), ir.getInt32(0xffffe000));
  Value* is_number = ir.CreateFCmpORD(value, value);
  f.write(i.operands[0], ir.CreateSelect(is_number, rounded, ir.getInt32(0x7fffffff)), Type::b32);
}

}  // namespace

void lower_cvt(FunctionLowering& f, const Instruction& i) {
  const Type to = i.types[0], from = i.types[1];
  if (to == Type::tf32) return float_to_tf32(f, i);
  if (i.has(Modifier::pack)) return integers_to_pack(f, i);
  if (is_float8_pair(to)) return to_float8_pair(f, i);
  if (is_float8_pair(from)) return from_float8_pair(f, i);
  if (is_packed(to)) return floats_to_pair(f, i);
  if (ptx::is_float(to)) return ptx::is_float(from) ? float_to_float(f, i) : integer_to_float(f, i);
  return ptx::is_float(from) ? float_to_integer(f, i) : integer_to_integer(f, i);
}

}  // namespace softgpu::lower
