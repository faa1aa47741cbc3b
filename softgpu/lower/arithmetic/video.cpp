// Video instructions on pairs of 16-bit numbers and quadruples of bytes. GPUs have them no more, but CUDA's own
// functions, such as __vabsdiffu4() and __vsadu4(), are made of them. Always all parts of a word: the parser refuses
// others.
#include "softgpu/lower/arithmetic/arithmetic.hpp"

namespace softgpu::lower {
namespace {

using llvm::Value;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Type;
using Compute = Value* (*)(Builder&, Value* a, Value* b);

Value* sum(Builder& ir, Value* a, Value* b) { return ir.CreateAdd(a, b); }
Value* difference(Builder& ir, Value* a, Value* b) { return ir.CreateSub(a, b); }
Value* distance(Builder& ir, Value* a, Value* b) {
  return ir.CreateBinaryIntrinsic(llvm::Intrinsic::abs, ir.CreateSub(a, b), ir.getFalse());
}
Value* smaller(Builder& ir, Value* a, Value* b) { return ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b); }
Value* larger(Builder& ir, Value* a, Value* b) { return ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b); }
// Rounded away from zero.
Value* average(Builder& ir, Value* a, Value* b) {
  Value* total = ir.CreateAdd(a, b);
  Value* one = ir.CreateZExt(ir.CreateICmpSGE(total, ir.getInt32(0)), ir.getInt32Ty());
  return ir.CreateAShr(ir.CreateAdd(total, one), 1);
}

Value* saturated(Builder& ir, Value* value, unsigned width, bool sign) {
  const int lowest = sign ? -(1 << (width - 1)) : 0, highest = (1 << (sign ? width - 1 : width)) - 1;
  return smaller(ir, larger(ir, value, ir.getInt32(static_cast<std::uint32_t>(lowest))),
                 ir.getInt32(static_cast<std::uint32_t>(highest)));
}

// The types are the result's, a's and b's. Numbers of 8 and 16 bits, of either sign, and what is made of them fit into
// signed ones of 32.
void lower_video(FunctionLowering& f, const Instruction& i, unsigned width, Compute compute) {
  Builder& ir = f.ir;
  Value* a = f.read(i.operands[1], Type::b32);
  Value* b = f.read(i.operands[2], Type::b32);
  const auto element = [&](Value* word, unsigned place, Type type) {
    return resize(ir, ir.CreateTrunc(ir.CreateLShr(word, place), ir.getIntNTy(width)), 32, ptx::is_signed(type));
  };
  const bool accumulate = i.has(Modifier::add);
  Value* result = accumulate ? f.read(i.operands[3], Type::b32) : ir.getInt32(0);
  for (unsigned place = 0; place < 32; place += width) {
    Value* value = compute(ir, element(a, place, i.types[1]), element(b, place, i.types[2]));
    if (i.has(Modifier::sat)) value = saturated(ir, value, width, ptx::is_signed(i.types[0]));
    if (accumulate)
      result = ir.CreateAdd(result, value);
    else
      result = ir.CreateOr(result, ir.CreateShl(ir.CreateAnd(value, (1u << width) - 1), place));
  }
  f.write(i.operands[0], result, Type::b32);
}

}  // namespace

void lower_vadd2(FunctionLowering& f, const Instruction& i) { lower_video(f, i, 16, sum); }
void lower_vadd4(FunctionLowering& f, const Instruction& i) { lower_video(f, i, 8, sum); }
void lower_vsub2(FunctionLowering& f, const Instruction& i) { lower_video(f, i, 16, difference); }
void lower_vsub4(FunctionLowering& f, const Instruction& i) { lower_video(f, i, 8, difference); }
void lower_vabsdiff2(FunctionLowering& f, const Instruction& i) { lower_video(f, i, 16, distance); }
void lower_vabsdiff4(FunctionLowering& f, const Instruction& i) { lower_video(f, i, 8, distance); }
void lower_vmin2(FunctionLowering& f, const Instruction& i) { lower_video(f, i, 16, smaller); }
void lower_vmin4(FunctionLowering& f, const Instruction& i) { lower_video(f, i, 8, smaller); }
void lower_vmax2(FunctionLowering& f, const Instruction& i) { lower_video(f, i, 16, larger); }
void lower_vmax4(FunctionLowering& f, const Instruction& i) { lower_video(f, i, 8, larger); }
void lower_vavrg2(FunctionLowering& f, const Instruction& i) { lower_video(f, i, 16, average); }
void lower_vavrg4(FunctionLowering& f, const Instruction& i) { lower_video(f, i, 8, average); }

}  // namespace softgpu::lower
