// sin, cos, lg2, ex2, tanh: straight-line polynomials in float, within the errors that the PTX ISA states and with
// its special values. The coefficients are minimax fits; the errors noted are those of the polynomials.
#include <span>

#include "softgpu/lower/floating_point/float_modifiers.hpp"
#include "softgpu/lower/floating_point/floating_point.hpp"

namespace softgpu::lower {
namespace {

using llvm::Value;
using ptx::Instruction;

// Adding this to a float below 2^22 rounds it to an integer, which is then in the low bits.
constexpr double kRounder = 0x1.8p23;

class Math {
 public:
  explicit Math(FunctionLowering& f) : ir(f.ir) {}

  Value* number(double value) { return llvm::ConstantFP::get(ir.getFloatTy(), value); }
  Value* absolute(Value* x) { return ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
  Value* fma(Value* a, Value* b, Value* c) {
    return ir.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
  }
  // first + second x + third x^2 …
  Value* polynomial(Value* x, std::span<const double> coefficients) {
    Value* result = number(coefficients.back());
    for (std::size_t k = coefficients.size() - 1; k-- > 0;) result = fma(result, x, number(coefficients[k]));
    return result;
  }
  // Leaves a NaN alone.
  Value* clamp(Value* x, double low, double high) {
    x = ir.CreateSelect(ir.CreateFCmpOLT(x, number(low)), number(low), x);
    return ir.CreateSelect(ir.CreateFCmpOGT(x, number(high)), number(high), x);
  }
  // 2^n for an i32 from -126 to 127.
  Value* power_of_two(Value* n) {
    return from_bits(ir, ir.CreateShl(ir.CreateAdd(n, ir.getInt32(127)), 23), ir.getFloatTy());
  }

  Value* ex2(Value* x);
  Value* lg2(Value* x);
  Value* sine(Value* x, unsigned quarter_turns);
  Value* tanh(Value* x);

  Builder& ir;
};

// 2^x = 2^n 2^f with f in [-1/2, 1/2]; error 2^-29. 2^n is applied in two halves, so that overflow and subnormal
// results come out by themselves.
Value* Math::ex2(Value* x) {
  static constexpr double kCoefficients[] = {1.0,
                                             0x1.62e430cc4cb0cp-1,
                                             0x1.ebfbe0d7839eap-3,
                                             0x1.c6aecf6e95b1dp-5,
                                             0x1.3b29aa1422797p-7,
                                             0x1.5f47afee70213p-10,
                                             0x1.448fc16259127p-13};
  x = clamp(x, -160, 130);
  Value* shifted = ir.CreateFAdd(x, number(kRounder));
  Value* fraction = ir.CreateFSub(x, ir.CreateFSub(shifted, number(kRounder)));
  Value* n = ir.CreateSub(to_bits(ir, shifted), to_bits(ir, number(kRounder)));
  Value* half = ir.CreateAShr(n, 1);
  Value* rest = ir.CreateSub(n, half);
  Value* result = ir.CreateFMul(polynomial(fraction, kCoefficients), power_of_two(half));
  return ir.CreateFMul(result, power_of_two(rest));
}

// log2(x) = e + log2(m) with m in [sqrt(1/2), sqrt(2)]; relative error of log2(m) 2^-25.
Value* Math::lg2(Value* x) {
  static constexpr double kCoefficients[] = {0x1.715475b2ca245p+0,  -0x1.7154707f230b6p-1, 0x1.ec73d6eeeaca2p-2,
                                             -0x1.715c4e67e80ebp-2, 0x1.26d3845c376dbp-2,  -0x1.e95be691066aap-3,
                                             0x1.b9c919941c4ddp-3,  -0x1.a87d0d1dd3a4ap-3, 0x1.01b6dca1e2ca5p-3};
  Value* is_subnormal = ir.CreateFCmpOLT(x, number(0x1p-126));
  Value* normal = ir.CreateSelect(is_subnormal, ir.CreateFMul(x, number(0x1p24)), x);
  Value* bits = to_bits(ir, normal);
  Value* exponent = ir.CreateAShr(ir.CreateSub(bits, ir.getInt32(0x3f3504f3)), 23);  // of x over sqrt(1/2)
  Value* mantissa = from_bits(ir, ir.CreateSub(bits, ir.CreateShl(exponent, 23)), ir.getFloatTy());
  Value* f = ir.CreateFSub(mantissa, number(1.0));
  Value* e = ir.CreateFAdd(ir.CreateSIToFP(exponent, ir.getFloatTy()),
                           ir.CreateSelect(is_subnormal, number(-24.0), number(0.0)));
  Value* result = fma(f, polynomial(f, kCoefficients), e);

  result = ir.CreateSelect(ir.CreateFCmpOEQ(x, number(__builtin_inf())), x, result);
  result = ir.CreateSelect(ir.CreateFCmpOEQ(x, number(0.0)), number(-__builtin_inf()), result);
  return ir.CreateSelect(ir.CreateFCmpULT(x, number(0.0)), number(__builtin_nan("")), result);
}

// sin(x + quarter_turns pi/2). x is brought to [-pi/4, pi/4] with pi/2 in three parts; beyond what that can do
// (|x| above some millions) the result is without meaning, but in [-1, 1].
Value* Math::sine(Value* x, unsigned quarter_turns) {
  static constexpr double kHalfPi[] = {0x1.921fb4p+0, 0x1.4442dp-24, 0x1.846988p-48};  // all positive: keeps -0
  static constexpr double kSine[] = {-0x1.55554581395d4p-3, 0x1.1107566faca13p-7, -0x1.994b3f7f913bcp-13};
  static constexpr double kCosine[] = {0x1.55555100fd334p-5, -0x1.6c0ee06f3f01dp-10, 0x1.9a6cb5ba12db1p-16};
  Value* shifted = fma(x, number(0x1.45f306p-1), number(kRounder));
  Value* turns = ir.CreateFSub(shifted, number(kRounder));
  Value* quadrant = ir.CreateAdd(to_bits(ir, shifted), ir.getInt32(quarter_turns));
  Value* r = x;
  for (double part : kHalfPi) r = fma(turns, number(-part), r);
  r = clamp(r, -0.7855, 0.7855);

  Value* square = ir.CreateFMul(r, r);
  Value* sine = ir.CreateFMul(r, fma(square, polynomial(square, kSine), number(1.0)));  // this too keeps -0
  Value* one_minus_half = fma(square, number(-0.5), number(1.0));
  Value* cosine = fma(ir.CreateFMul(square, square), polynomial(square, kCosine), one_minus_half);
  Value* odd = ir.CreateTrunc(quadrant, ir.getInt1Ty());
  Value* size = ir.CreateSelect(odd, cosine, sine);
  Value* negative = ir.CreateTrunc(ir.CreateLShr(quadrant, 1), ir.getInt1Ty());
  return ir.CreateSelect(negative, ir.CreateFNeg(size), size);
}

// (1 - 2^-2x/ln 2) / (1 + …), and the series near 0, where the difference would lose bits; error 2^-16.
Value* Math::tanh(Value* x) {
  static constexpr double kSeries[] = {1.0, -1.0 / 3.0, 2.0 / 15.0};
  Value* size = absolute(x);
  Value* power = ex2(ir.CreateFMul(size, number(-2.8853900817779268)));
  Value* quotient = ir.CreateFDiv(ir.CreateFSub(number(1.0), power), ir.CreateFAdd(number(1.0), power));
  quotient = ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, quotient, x);
  Value* series = ir.CreateFMul(x, polynomial(ir.CreateFMul(x, x), kSeries));
  return ir.CreateSelect(ir.CreateFCmpOLT(size, number(0.25)), series, quotient);
}

}  // namespace

void lower_ex2(FunctionLowering& f, const Instruction& i) {
  for_each_unflushed_float(f, i, [&](Value* x) { return Math(f).ex2(x); });
}

void lower_lg2(FunctionLowering& f, const Instruction& i) {
  for_each_float(f, i, [&](Value* x) { return Math(f).lg2(x); });
}

void lower_sin(FunctionLowering& f, const Instruction& i) {
  for_each_unflushed_float(f, i, [&](Value* x) { return Math(f).sine(x, 0); });
}

void lower_cos(FunctionLowering& f, const Instruction& i) {
  for_each_unflushed_float(f, i, [&](Value* x) { return Math(f).sine(x, 1); });
}

void lower_tanh(FunctionLowering& f, const Instruction& i) {
  for_each_float(f, i, [&](Value* x) { return Math(f).tanh(x); });
}

}  // namespace softgpu::lower
