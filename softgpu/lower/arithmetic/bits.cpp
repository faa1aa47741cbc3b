// Logic, shifts and bit counts.
#include "softgpu/lower/arithmetic/arithmetic.hpp"

namespace softgpu::lower {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Type;

template <typename Operation>
void binary(FunctionLowering& f, const Instruction& i, Operation operation) {
  f.write(i.operands[0], operation(f.read(i.operands[1], i.types[0]), f.read(i.operands[2], i.types[0])), i.types[0]);
}

// The functions of one and of two variables by their truth tables; bit k of the table is the value for input k,
// the last variable being its lowest bit.
Value* function_of_one(Builder& ir, unsigned table, Value* c) {
  switch (table & 3) {
    case 0: return ir.getInt32(0);
    case 1: return ir.CreateNot(c);
    case 2: return c;
    default: return ir.getInt32(0xffffffff);
  }
}

Value* choose(Builder& ir, Value* selector, Value* if_set, Value* if_clear) {
  return ir.CreateOr(ir.CreateAnd(selector, if_set), ir.CreateAnd(ir.CreateNot(selector), if_clear));
}

Value* function_of_two(Builder& ir, unsigned table, Value* b, Value* c) {
  const unsigned if_set = table >> 2 & 3, if_clear = table & 3;
  if (if_set == if_clear) return function_of_one(ir, if_set, c);
  if (if_set == (~if_clear & 3)) return ir.CreateXor(b, function_of_one(ir, if_clear, c));
  return choose(ir, b, function_of_one(ir, if_set, c), function_of_one(ir, if_clear, c));
}

Value* function_of_three(Builder& ir, unsigned table, Value* a, Value* b, Value* c) {
  const unsigned if_set = table >> 4 & 15, if_clear = table & 15;
  if (if_set == if_clear) return function_of_two(ir, if_set, b, c);
  if (if_set == (~if_clear & 15)) return ir.CreateXor(a, function_of_two(ir, if_clear, b, c));
  return choose(ir, a, function_of_two(ir, if_set, b, c), function_of_two(ir, if_clear, b, c));
}

// Shift amounts are unsigned 32-bit numbers; those past the width count as the width. A shift by too much is
// poison in LLVM, which a select may ignore.
Value* clamped_shift(FunctionLowering& f, const Instruction& i, llvm::Instruction::BinaryOps shift) {
  Builder& ir = f.ir;
  const unsigned width = ptx::bits(i.types[0]);
  Value* a = f.read(i.operands[1], i.types[0]);
  Value* amount = f.read(i.operands[2], Type::u32);
  if (shift == llvm::Instruction::AShr) {
    Value* most = f.intrinsic(llvm::Intrinsic::umin, {amount, ir.getInt32(width - 1)});
    return ir.CreateAShr(a, resize(ir, most, width, false));
  }
  Value* in_range = ir.CreateICmpULT(amount, ir.getInt32(width));
  return ir.CreateSelect(in_range, ir.CreateBinOp(shift, a, resize(ir, amount, width, false)), ir.getIntN(width, 0));
}

Value* count(FunctionLowering& f, llvm::Intrinsic::ID id, Value* value) {
  if (id == llvm::Intrinsic::ctpop) return resize(f.ir, f.intrinsic(id, {value}), 32, false);
  return resize(f.ir, f.intrinsic(id, {value, f.ir.getFalse()}), 32, false);
}

}  // namespace

void lower_and(FunctionLowering& f, const Instruction& i) {
  binary(f, i, [&](Value* a, Value* b) { return f.ir.CreateAnd(a, b); });
}

void lower_or(FunctionLowering& f, const Instruction& i) {
  binary(f, i, [&](Value* a, Value* b) { return f.ir.CreateOr(a, b); });
}

void lower_xor(FunctionLowering& f, const Instruction& i) {
  binary(f, i, [&](Value* a, Value* b) { return f.ir.CreateXor(a, b); });
}

void lower_not(FunctionLowering& f, const Instruction& i) {
  f.write(i.operands[0], f.ir.CreateNot(f.read(i.operands[1], i.types[0])), i.types[0]);
}

void lower_cnot(FunctionLowering& f, const Instruction& i) {
  Value* a = f.read(i.operands[1], i.types[0]);
  f.write(i.operands[0], f.ir.CreateZExt(f.ir.CreateICmpEQ(a, llvm::ConstantInt::get(a->getType(), 0)), a->getType()),
          i.types[0]);
}

void lower_lop3(FunctionLowering& f, const Instruction& i) {
  Builder& ir = f.ir;
  const auto table = static_cast<unsigned>(std::get<ptx::Immediate>(i.operands[4].value).bits & 0xff);
  Value* result = function_of_three(ir, table, f.read(i.operands[1], Type::b32), f.read(i.operands[2], Type::b32),
                                    f.read(i.operands[3], Type::b32));
  const auto* pair = std::get_if<ptx::PredicatePair>(&i.operands[0].value);
  if (!pair) return f.write(i.operands[0], result, Type::b32);
  // d|p: p is (d != 0) combined with the last operand.
  Value* is_set = ir.CreateICmpNE(result, ir.getInt32(0));
  Value* q = f.read_predicate(i.operands[5]);
  Value* p = i.has(Modifier::or_) ? ir.CreateOr(is_set, q) : ir.CreateAnd(is_set, q);
  f.write_register(pair->first, result);
  f.write_register(pair->second, p);
}

void lower_shl(FunctionLowering& f, const Instruction& i) {
  f.write(i.operands[0], clamped_shift(f, i, llvm::Instruction::Shl), i.types[0]);
}

void lower_shr(FunctionLowering& f, const Instruction& i) {
  const auto shift = ptx::is_signed(i.types[0]) ? llvm::Instruction::AShr : llvm::Instruction::LShr;
  f.write(i.operands[0], clamped_shift(f, i, shift), i.types[0]);
}

// A 64-bit value {b, a} shifted left or right; the upper or the lower word of it. fshl and fshr wrap the amount;
// clamping differs only at 32 and above, where one of the words is all that is left.
void lower_shf(FunctionLowering& f, const Instruction& i) {
  Builder& ir = f.ir;
  Value* a = f.read(i.operands[1], Type::b32);
  Value* b = f.read(i.operands[2], Type::b32);
  Value* amount = f.read(i.operands[3], Type::u32);
  const bool left = i.has(Modifier::l);
  Value* result = f.intrinsic(left ? llvm::Intrinsic::fshl : llvm::Intrinsic::fshr, {b, a, amount});
  if (i.has(Modifier::clamp)) result = ir.CreateSelect(ir.CreateICmpULT(amount, ir.getInt32(32)), result, left ? a : b);
  f.write(i.operands[0], result, Type::b32);
}

void lower_popc(FunctionLowering& f, const Instruction& i) {
  f.write(i.operands[0], count(f, llvm::Intrinsic::ctpop, f.read(i.operands[1], i.types[0])), Type::u32);
}

void lower_clz(FunctionLowering& f, const Instruction& i) {
  f.write(i.operands[0], count(f, llvm::Intrinsic::ctlz, f.read(i.operands[1], i.types[0])), Type::u32);
}

void lower_brev(FunctionLowering& f, const Instruction& i) {
  f.write(i.operands[0], f.intrinsic(llvm::Intrinsic::bitreverse, {f.read(i.operands[1], i.types[0])}), i.types[0]);
}

// The position of the highest bit that differs from the sign (or, unsigned, that is set), or how far to shift left
// to bring it to the top; all ones when there is none.
void lower_bfind(FunctionLowering& f, const Instruction& i) {
  Builder& ir = f.ir;
  const unsigned width = ptx::bits(i.types[0]);
  Value* a = f.read(i.operands[1], i.types[0]);
  if (ptx::is_signed(i.types[0])) a = ir.CreateXor(a, ir.CreateAShr(a, width - 1));
  Value* leading = count(f, llvm::Intrinsic::ctlz, a);
  Value* found = i.has(Modifier::shiftamt) ? leading : ir.CreateSub(ir.getInt32(width - 1), leading);
  Value* none = ir.CreateICmpEQ(a, llvm::ConstantInt::get(a->getType(), 0));
  f.write(i.operands[0], ir.CreateSelect(none, ir.getInt32(0xffffffff), found), Type::u32);
}

}  // namespace softgpu::lower
