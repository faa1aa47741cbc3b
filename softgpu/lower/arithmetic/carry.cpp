// Extended-precision arithmetic: the carry flag CC.CF is one register of the function.
#include "softgpu/lower/arithmetic/arithmetic.hpp"

namespace softgpu::lower {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Modifier;

bool takes_carry(const Instruction& i) {
  return i.opcode == ptx::Opcode::addc || i.opcode == ptx::Opcode::subc || i.opcode == ptx::Opcode::madc;
}

Value* carry_in(FunctionLowering& f, const Instruction& i) {
  return takes_carry(i) ? f.carry() : static_cast<Value*>(f.ir.getFalse());
}

// a + b + carry; the carry out is the one bit more that the exact sum has.
void add_with_carry(FunctionLowering& f, const Instruction& i, Value* a, Value* b) {
  Builder& ir = f.ir;
  Value* partial = ir.CreateAdd(a, b);
  Value* sum = ir.CreateAdd(partial, ir.CreateZExt(carry_in(f, i), a->getType()));
  if (i.has(Modifier::cc)) f.set_carry(ir.CreateOr(ir.CreateICmpULT(partial, a), ir.CreateICmpULT(sum, partial)));
  f.write(i.operands[0], sum, i.types[0]);
}

}  // namespace

void lower_addc(FunctionLowering& f, const Instruction& i) {
  add_with_carry(f, i, f.read(i.operands[1], i.types[0]), f.read(i.operands[2], i.types[0]));
}

// A GPU subtracts by adding the complement, so the flag is set where nothing was borrowed. Chains of subtractions alone
// don't show it, but NVIDIA's division of 128-bit integers reads the flag behind subc.cc with addc.
void lower_subc(FunctionLowering& f, const Instruction& i) {
  Builder& ir = f.ir;
  Value* a = f.read(i.operands[1], i.types[0]);
  Value* b = f.read(i.operands[2], i.types[0]);
  Value* partial = ir.CreateSub(a, b);
  Value* borrow = takes_carry(i) ? ir.CreateZExt(ir.CreateNot(f.carry()), a->getType())
                                 : static_cast<Value*>(llvm::ConstantInt::get(a->getType(), 0));
  if (i.has(Modifier::cc)) f.set_carry(ir.CreateAnd(ir.CreateICmpUGE(a, b), ir.CreateICmpUGE(partial, borrow)));
  f.write(i.operands[0], ir.CreateSub(partial, borrow), i.types[0]);
}

void lower_madc(FunctionLowering& f, const Instruction& i) {
  Builder& ir = f.ir;
  const unsigned width = ptx::bits(i.types[0]);
  Value* a = f.read(i.operands[1], i.types[0]);
  Value* b = f.read(i.operands[2], i.types[0]);
  Value* product = nullptr;
  if (i.has(Modifier::hi)) {
    const bool sign = ptx::is_signed(i.types[0]);
    Value* wide = ir.CreateMul(resize(ir, a, 2 * width, sign), resize(ir, b, 2 * width, sign));
    product = ir.CreateTrunc(ir.CreateLShr(wide, width), ir.getIntNTy(width));
  } else {
    product = ir.CreateMul(a, b);
  }
  add_with_carry(f, i, product, f.read(i.operands[3], i.types[0]));
}

}  // namespace softgpu::lower
