// Integer arithmetic. No nsw or nuw anywhere: PTX arithmetic wraps.
#include "softgpu/lower/arithmetic/arithmetic.hpp"
#include "softgpu/lower/floating_point/elementwise.hpp"
#include "softgpu/lower/floating_point/floating_point.hpp"

namespace softgpu::lower {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Type;

bool computes_floats(const Instruction& i) { return ptx::is_float(element_of(i.types[0])); }

// The product in twice the width.
Value* wide_product(FunctionLowering& f, Value* a, Value* b, bool sign) {
  const unsigned width = 2 * a->getType()->getIntegerBitWidth();
  return f.ir.CreateMul(resize(f.ir, a, width, sign), resize(f.ir, b, width, sign));
}

Value* high_half(FunctionLowering& f, Value* wide) {
  const unsigned width = wide->getType()->getIntegerBitWidth() / 2;
  return f.ir.CreateTrunc(f.ir.CreateLShr(wide, width), f.ir.getIntNTy(width));
}

Value* product(FunctionLowering& f, const Instruction& i) {
  Value* a = f.read(i.operands[1], i.types[0]);
  Value* b = f.read(i.operands[2], i.types[0]);
  if (i.has(Modifier::wide)) return wide_product(f, a, b, is_signed(i));
  if (i.has(Modifier::hi)) return high_half(f, wide_product(f, a, b, is_signed(i)));
  return f.ir.CreateMul(a, b);
}

Type product_type(const Instruction& i) { return i.has(Modifier::wide) ? doubled(i.types[0]) : i.types[0]; }

void write_sum(FunctionLowering& f, const Instruction& i, Value* a, Value* b, Type type) {
  f.write(i.operands[0], i.has(Modifier::sat) ? f.intrinsic(llvm::Intrinsic::sadd_sat, {a, b}) : f.ir.CreateAdd(a, b),
          type);
}

// The low 24 bits of each factor; the product's low 32 bits, or its bits 16 to 47.
Value* product24(FunctionLowering& f, const Instruction& i) {
  Builder& ir = f.ir;
  const auto factor = [&](std::size_t operand) {
    Value* shifted = ir.CreateShl(f.read(i.operands[operand], i.types[0]), 8);
    Value* low = is_signed(i) ? ir.CreateAShr(shifted, 8) : ir.CreateLShr(shifted, 8);
    return resize(ir, low, 64, is_signed(i));
  };
  Value* wide = ir.CreateMul(factor(1), factor(2));
  return ir.CreateTrunc(i.has(Modifier::hi) ? ir.CreateLShr(wide, 16) : wide, ir.getInt32Ty());
}

Value* integer_min_max(FunctionLowering& f, const Instruction& i, Value* a, Value* b, bool is_min) {
  using namespace llvm::Intrinsic;
  const ID id = is_signed(i) ? (is_min ? smin : smax) : (is_min ? umin : umax);
  Value* result = f.intrinsic(id, {a, b});
  if (!i.has(Modifier::relu)) return result;
  return f.intrinsic(smax, {result, llvm::ConstantInt::get(result->getType(), 0)});
}

template <typename Operation>
void for_integer_elements(FunctionLowering& f, const Instruction& i, Operation operation) {
  const Elements a = split(f, f.read(i.operands[1], i.types[0]), i.types[0]);
  const Elements b = split(f, f.read(i.operands[2], i.types[0]), i.types[0]);
  Elements results;
  for (std::size_t k = 0; k < a.size(); ++k) results.push_back(operation(a[k], b[k]));
  f.write(i.operands[0], join(f, results), i.types[0]);
}

}  // namespace

void lower_add(FunctionLowering& f, const Instruction& i) {
  if (computes_floats(i)) return lower_float_add(f, i);
  if (i.has(Modifier::cc)) return lower_addc(f, i);
  if (is_packed(i.types[0]))
    return for_integer_elements(f, i, [&](Value* a, Value* b) { return f.ir.CreateAdd(a, b); });
  write_sum(f, i, f.read(i.operands[1], i.types[0]), f.read(i.operands[2], i.types[0]), i.types[0]);
}

void lower_sub(FunctionLowering& f, const Instruction& i) {
  if (computes_floats(i)) return lower_float_sub(f, i);
  if (i.has(Modifier::cc)) return lower_subc(f, i);
  Value* a = f.read(i.operands[1], i.types[0]);
  Value* b = f.read(i.operands[2], i.types[0]);
  f.write(i.operands[0], i.has(Modifier::sat) ? f.intrinsic(llvm::Intrinsic::ssub_sat, {a, b}) : f.ir.CreateSub(a, b),
          i.types[0]);
}

void lower_mul(FunctionLowering& f, const Instruction& i) {
  if (computes_floats(i)) return lower_float_mul(f, i);
  f.write(i.operands[0], product(f, i), product_type(i));
}

void lower_mad(FunctionLowering& f, const Instruction& i) {
  if (computes_floats(i)) return lower_fma(f, i);
  if (i.has(Modifier::cc)) return lower_madc(f, i);
  write_sum(f, i, product(f, i), f.read(i.operands[3], product_type(i)), product_type(i));
}

void lower_mul24(FunctionLowering& f, const Instruction& i) { f.write(i.operands[0], product24(f, i), i.types[0]); }

void lower_mad24(FunctionLowering& f, const Instruction& i) {
  write_sum(f, i, product24(f, i), f.read(i.operands[3], i.types[0]), i.types[0]);
}

void lower_sad(FunctionLowering& f, const Instruction& i) {
  Builder& ir = f.ir;
  Value* a = f.read(i.operands[1], i.types[0]);
  Value* b = f.read(i.operands[2], i.types[0]);
  Value* less = is_signed(i) ? ir.CreateICmpSLT(a, b) : ir.CreateICmpULT(a, b);
  Value* distance = ir.CreateSelect(less, ir.CreateSub(b, a), ir.CreateSub(a, b));
  f.write(i.operands[0], ir.CreateAdd(f.read(i.operands[3], i.types[0]), distance), i.types[0]);
}

void lower_abs(FunctionLowering& f, const Instruction& i) {
  if (computes_floats(i)) return lower_float_abs(f, i);
  Value* a = f.read(i.operands[1], i.types[0]);
  f.write(i.operands[0], f.ir.CreateIntrinsic(llvm::Intrinsic::abs, {a->getType()}, {a, f.ir.getFalse()}), i.types[0]);
}

void lower_neg(FunctionLowering& f, const Instruction& i) {
  if (computes_floats(i)) return lower_float_neg(f, i);
  f.write(i.operands[0], f.ir.CreateNeg(f.read(i.operands[1], i.types[0])), i.types[0]);
}

void lower_min(FunctionLowering& f, const Instruction& i) {
  if (computes_floats(i)) return lower_float_min(f, i);
  for_integer_elements(f, i, [&](Value* a, Value* b) { return integer_min_max(f, i, a, b, true); });
}

void lower_max(FunctionLowering& f, const Instruction& i) {
  if (computes_floats(i)) return lower_float_max(f, i);
  for_integer_elements(f, i, [&](Value* a, Value* b) { return integer_min_max(f, i, a, b, false); });
}

// Four products of bytes, added to c.
void lower_dp4a(FunctionLowering& f, const Instruction& i) {
  Builder& ir = f.ir;
  Value* a = f.read(i.operands[1], Type::b32);
  Value* b = f.read(i.operands[2], Type::b32);
  Value* sum = f.read(i.operands[3], Type::b32);
  const auto byte = [&](Value* word, unsigned k, Type type) {
    return resize(ir, ir.CreateTrunc(ir.CreateLShr(word, 8 * k), ir.getInt8Ty()), 32, ptx::is_signed(type));
  };
  for (unsigned k = 0; k < 4; ++k)
    sum = ir.CreateAdd(sum, ir.CreateMul(byte(a, k, i.types[0]), byte(b, k, i.types[1])));
  f.write(i.operands[0], sum, i.types[0]);
}

// Two products: the 16-bit halves of a with the lower or upper two bytes of b.
void lower_dp2a(FunctionLowering& f, const Instruction& i) {
  Builder& ir = f.ir;
  Value* a = f.read(i.operands[1], Type::b32);
  Value* b = f.read(i.operands[2], Type::b32);
  Value* sum = f.read(i.operands[3], Type::b32);
  const unsigned first_byte = i.has(Modifier::hi) ? 2 : 0;
  for (unsigned k = 0; k < 2; ++k) {
    Value* half = ir.CreateTrunc(ir.CreateLShr(a, 16 * k), ir.getInt16Ty());
    Value* byte = ir.CreateTrunc(ir.CreateLShr(b, 8 * (first_byte + k)), ir.getInt8Ty());
    sum = ir.CreateAdd(sum, ir.CreateMul(resize(ir, half, 32, ptx::is_signed(i.types[0])),
                                         resize(ir, byte, 32, ptx::is_signed(i.types[1]))));
  }
  f.write(i.operands[0], sum, i.types[0]);
}

}  // namespace softgpu::lower
