// Integer division and remainder.
#include "softgpu/lower/arithmetic/arithmetic.hpp"
#include "softgpu/lower/floating_point/floating_point.hpp"

namespace softgpu::lower {
namespace {

using llvm::Value;
using ptx::Instruction;

struct Division {
  Value *dividend, *divisor, *by_zero;
};

// A divisor that never traps on the host, also in lanes that are switched off or from registers that were never
// written (hence the freezes). INT_MIN / -1 wraps to INT_MIN with remainder 0, which is what dividing by 1 gives.
Division safe_division(FunctionLowering& f, const Instruction& i) {
  Builder& ir = f.ir;
  Value* a = ir.CreateFreeze(f.read(i.operands[1], i.types[0]));
  Value* b = ir.CreateFreeze(f.read(i.operands[2], i.types[0]));
  const unsigned width = ptx::bits(i.types[0]);
  Value* by_zero = ir.CreateICmpEQ(b, ir.getIntN(width, 0));
  Value* unsafe = by_zero;
  if (is_signed(i)) {
    Value* smallest = ir.CreateICmpEQ(a, ir.getInt(llvm::APInt::getSignedMinValue(width)));
    Value* minus_one = ir.CreateICmpEQ(b, ir.getInt(llvm::APInt::getAllOnes(width)));
    unsafe = ir.CreateOr(by_zero, ir.CreateAnd(smallest, minus_one));
  }
  return {a, ir.CreateSelect(unsafe, ir.getIntN(width, 1), b), by_zero};
}

// A double holds 32-bit numbers and their quotient is far enough from the next integer, so cutting off its fraction is
// exact. Unlike integer division, vectors of doubles are divided at once.
Value* quotient_in_double(Builder& ir, Value* a, Value* b, bool sign) {
  const auto as_double = [&](Value* x) {
    return sign ? ir.CreateSIToFP(x, ir.getDoubleTy()) : ir.CreateUIToFP(x, ir.getDoubleTy());
  };
  Value* quotient = ir.CreateFDiv(as_double(a), as_double(b));
  if (sign) return ir.CreateFPToSI(quotient, a->getType());
  // The integer part of a number below 2^52, plus 2^52, is in the low bits.
  Value* whole = ir.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, quotient);
  Value* shifted = ir.CreateFAdd(whole, llvm::ConstantFP::get(ir.getDoubleTy(), 0x1p52));
  return resize(ir, shifted, a->getType()->getIntegerBitWidth(), false);
}

Value* quotient(FunctionLowering& f, const Instruction& i, const Division& d) {
  // LLVM makes a multiplication of the division by a constant.
  const bool by_constant = std::holds_alternative<ptx::Immediate>(i.operands[2].value);
  if (ptx::bits(i.types[0]) <= 32 && !by_constant) return quotient_in_double(f.ir, d.dividend, d.divisor, is_signed(i));
  return is_signed(i) ? f.ir.CreateSDiv(d.dividend, d.divisor) : f.ir.CreateUDiv(d.dividend, d.divisor);
}

}  // namespace

void lower_div(FunctionLowering& f, const Instruction& i) {
  if (ptx::is_float(element_of(i.types[0]))) return lower_float_div(f, i);
  const Division d = safe_division(f, i);
  Value* result = quotient(f, i, d);
  Value* all_ones = llvm::ConstantInt::getAllOnesValue(result->getType());
  f.write(i.operands[0], f.ir.CreateSelect(d.by_zero, all_ones, result), i.types[0]);
}

void lower_rem(FunctionLowering& f, const Instruction& i) {
  const Division d = safe_division(f, i);
  Value* remainder = f.ir.CreateSub(d.dividend, f.ir.CreateMul(quotient(f, i, d), d.divisor));
  f.write(i.operands[0], f.ir.CreateSelect(d.by_zero, d.dividend, remainder), i.types[0]);
}

}  // namespace softgpu::lower
