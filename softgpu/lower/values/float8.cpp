#include "softgpu/lower/values/float8.hpp"

namespace softgpu::lower {

using llvm::Value;
using ptx::Type;

namespace {

constexpr unsigned kSingleBias = 127, kSingleMantissa = 23, kNan = 0x7f;

struct Format {
  unsigned mantissa_bits;
  unsigned bias;
  double largest;
  double smallest_normal;
  unsigned last_number;  // greater codes, without the sign, are NaN

  double step() const { return smallest_normal / (1U << mantissa_bits); }
};

// e5m2 is the upper half of f16, infinity included; e4m3 has no infinity, and a single NaN.
constexpr Format kE4M3{3, 7, 448.0, 0x1p-6, 0x7e};
constexpr Format kE5M2{2, 15, 57344.0, 0x1p-14, 0x7c};

const Format& format_of(Type pair) { return pair == Type::e4m3x2 ? kE4M3 : kE5M2; }

Value* single_number(Builder& ir, double value) { return llvm::ConstantFP::get(ir.getFloatTy(), value); }

// By the bits that are cut off. A carry out of the mantissa goes to the exponent, as it should.
Value* round_normal(Builder& ir, Value* magnitude, const Format& format) {
  const unsigned cut = kSingleMantissa - format.mantissa_bits;
  Value* bits = to_bits(ir, magnitude);
  Value* is_odd = ir.CreateAnd(ir.CreateLShr(bits, cut), ir.getInt32(1));
  Value* rounded = ir.CreateAdd(bits, ir.CreateAdd(is_odd, ir.getInt32((1U << (cut - 1)) - 1)));
  return ir.CreateSub(ir.CreateLShr(rounded, cut), ir.getInt32((kSingleBias - format.bias) << format.mantissa_bits));
}

// Added to a number whose last bit counts the format's smallest steps, the float's own addition rounds.
Value* round_subnormal(Builder& ir, Value* magnitude, const Format& format) {
  Value* anchor = single_number(ir, format.step() * (1U << kSingleMantissa));
  return ir.CreateSub(to_bits(ir, ir.CreateFAdd(magnitude, anchor)), to_bits(ir, anchor));
}

}  // namespace

bool is_float8_pair(Type type) { return type == Type::e4m3x2 || type == Type::e5m2x2; }

Value* round_to_float8(Builder& ir, Value* single, Type pair) {
  const Format& format = format_of(pair);
  Value* magnitude = ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, single);
  Value* largest = single_number(ir, format.largest);
  magnitude = ir.CreateSelect(ir.CreateFCmpOGT(magnitude, largest), largest, magnitude);
  Value* is_subnormal = ir.CreateFCmpOLT(magnitude, single_number(ir, format.smallest_normal));
  Value* code =
      ir.CreateSelect(is_subnormal, round_subnormal(ir, magnitude, format), round_normal(ir, magnitude, format));
  Value* sign = ir.CreateAnd(ir.CreateLShr(to_bits(ir, single), 24), ir.getInt32(0x80));
  code = ir.CreateSelect(ir.CreateFCmpUNO(single, single), ir.getInt32(kNan), ir.CreateOr(code, sign));
  return ir.CreateTrunc(code, ir.getInt8Ty());
}

Value* float8_to_float(Builder& ir, Value* bits, Type pair) {
  const Format& format = format_of(pair);
  Value* code = ir.CreateZExt(bits, ir.getInt32Ty());
  Value* low = ir.CreateAnd(code, ir.getInt32(0x7f));
  // Exponent and mantissa moved to where a float has them. Where the exponent is 0, the mantissa counts the smallest
  // steps.
  Value* moved = ir.CreateShl(low, kSingleMantissa - format.mantissa_bits);
  Value* normal = ir.CreateBitCast(ir.CreateAdd(moved, ir.getInt32((kSingleBias - format.bias) << kSingleMantissa)),
                                   ir.getFloatTy());
  Value* subnormal = ir.CreateFMul(ir.CreateUIToFP(low, ir.getFloatTy()), single_number(ir, format.step()));
  Value* is_subnormal = ir.CreateICmpULT(low, ir.getInt32(1U << format.mantissa_bits));
  Value* magnitude = ir.CreateSelect(is_subnormal, subnormal, normal);
  if (pair == Type::e5m2x2) {
    Value* is_infinite = ir.CreateICmpEQ(low, ir.getInt32(format.last_number));
    magnitude = ir.CreateSelect(is_infinite, llvm::ConstantFP::getInfinity(ir.getFloatTy()), magnitude);
  }
  Value* is_nan = ir.CreateICmpUGT(low, ir.getInt32(format.last_number));
  magnitude = ir.CreateSelect(is_nan, llvm::ConstantFP::getNaN(ir.getFloatTy()), magnitude);
  return ir.CreateSelect(ir.CreateICmpNE(code, low), ir.CreateFNeg(magnitude), magnitude);
}

}  // namespace softgpu::lower
