// Comparison and selection.
#include <optional>

#include "softgpu/lower/arithmetic/arithmetic.hpp"
#include "softgpu/lower/floating_point/elementwise.hpp"
#include "softgpu/lower/values/float_formats.hpp"
#include "softgpu/lower/values/flush.hpp"

namespace softgpu::lower {
namespace {

using llvm::CmpInst;
using llvm::Value;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Type;

struct Comparison {
  Modifier modifier;
  CmpInst::Predicate as_signed, as_unsigned, as_float;
};

constexpr CmpInst::Predicate kNone = CmpInst::BAD_ICMP_PREDICATE;

constexpr Comparison kComparisons[] = {
    {Modifier::eq, CmpInst::ICMP_EQ, CmpInst::ICMP_EQ, CmpInst::FCMP_OEQ},
    {Modifier::ne, CmpInst::ICMP_NE, CmpInst::ICMP_NE, CmpInst::FCMP_ONE},
    {Modifier::lt, CmpInst::ICMP_SLT, CmpInst::ICMP_ULT, CmpInst::FCMP_OLT},
    {Modifier::le, CmpInst::ICMP_SLE, CmpInst::ICMP_ULE, CmpInst::FCMP_OLE},
    {Modifier::gt, CmpInst::ICMP_SGT, CmpInst::ICMP_UGT, CmpInst::FCMP_OGT},
    {Modifier::ge, CmpInst::ICMP_SGE, CmpInst::ICMP_UGE, CmpInst::FCMP_OGE},
    {Modifier::lo, CmpInst::ICMP_ULT, CmpInst::ICMP_ULT, kNone},
    {Modifier::ls, CmpInst::ICMP_ULE, CmpInst::ICMP_ULE, kNone},
    {Modifier::hi, CmpInst::ICMP_UGT, CmpInst::ICMP_UGT, kNone},
    {Modifier::hs, CmpInst::ICMP_UGE, CmpInst::ICMP_UGE, kNone},
    {Modifier::equ, kNone, kNone, CmpInst::FCMP_UEQ},
    {Modifier::neu, kNone, kNone, CmpInst::FCMP_UNE},
    {Modifier::ltu, kNone, kNone, CmpInst::FCMP_ULT},
    {Modifier::leu, kNone, kNone, CmpInst::FCMP_ULE},
    {Modifier::gtu, kNone, kNone, CmpInst::FCMP_UGT},
    {Modifier::geu, kNone, kNone, CmpInst::FCMP_UGE},
    {Modifier::num, kNone, kNone, CmpInst::FCMP_ORD},
    {Modifier::nan, kNone, kNone, CmpInst::FCMP_UNO},
};

const Comparison& comparison_of(FunctionLowering& f, const Instruction& i) {
  for (const Comparison& comparison : kComparisons)
    if (i.has(comparison.modifier)) return comparison;
  f.refuse(i, "has no comparison");
}

// One i1 for each element of the sources.
Elements compare(FunctionLowering& f, const Instruction& i, Type type) {
  const Comparison& comparison = comparison_of(f, i);
  if (!ptx::is_float(element_of(type))) {
    const auto predicate = ptx::is_signed(type) ? comparison.as_signed : comparison.as_unsigned;
    return {f.ir.CreateICmp(predicate, f.read(i.operands[1], type), f.read(i.operands[2], type))};
  }
  const Elements a = read_floats(f, i.operands[1], type);
  const Elements b = read_floats(f, i.operands[2], type);
  Elements results;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const auto operand = [&](Value* x) { return i.has(Modifier::ftz) ? flush(f.ir, x, element_of(type)) : x; };
    results.push_back(f.ir.CreateFCmp(comparison.as_float, operand(a[k]), operand(b[k])));
  }
  return results;
}

// .and, .or, .xor with the predicate behind the sources.
Value* combine(FunctionLowering& f, const Instruction& i, Value* result) {
  if (i.has(Modifier::and_)) return f.ir.CreateAnd(result, f.read_predicate(i.operands[3]));
  if (i.has(Modifier::or_)) return f.ir.CreateOr(result, f.read_predicate(i.operands[3]));
  if (i.has(Modifier::xor_)) return f.ir.CreateXor(result, f.read_predicate(i.operands[3]));
  return result;
}

// True as a value of the destination's element type: 1.0, or all ones.
llvm::Constant* truth(llvm::LLVMContext& context, Type type) {
  if (type == Type::bf16) return llvm::ConstantInt::get(llvm::Type::getInt16Ty(context), 0x3f80);
  llvm::Type* wanted = llvm_type(context, type);
  return wanted->isFloatingPointTy() ? llvm::ConstantFP::get(wanted, 1.0) : llvm::ConstantInt::getAllOnesValue(wanted);
}

}  // namespace

// p|q is the comparison and its negation for one element, and one result each for two.
void lower_setp(FunctionLowering& f, const Instruction& i) {
  const Elements results = compare(f, i, i.types[0]);
  const auto* pair = std::get_if<ptx::PredicatePair>(&i.operands[0].value);
  if (!pair) return f.write(i.operands[0], combine(f, i, results[0]), Type::pred);
  Value* first = combine(f, i, results[0]);
  Value* second = combine(f, i, results.size() == 2 ? results[1] : f.ir.CreateNot(results[0]));
  f.write_register(pair->first, first);
  f.write_register(pair->second, second);
}

void lower_set(FunctionLowering& f, const Instruction& i) {
  const Elements results = compare(f, i, i.types[1]);
  const Type type = i.types[0];
  // .u32.f16x2 gives two 16-bit masks.
  const Type element = results.size() == 2 && !is_packed(type) ? Type::b16 : element_of(type);
  llvm::Constant* yes = truth(f.module.context(), element);
  Elements values;
  for (Value* result : results)
    values.push_back(f.ir.CreateSelect(combine(f, i, result), yes, llvm::Constant::getNullValue(yes->getType())));
  f.write(i.operands[0], join(f, values), type);
}

void lower_selp(FunctionLowering& f, const Instruction& i) {
  Value* a = f.read(i.operands[1], i.types[0]);
  Value* b = f.read(i.operands[2], i.types[0]);
  f.write(i.operands[0], f.ir.CreateSelect(f.read_predicate(i.operands[3]), a, b), i.types[0]);
}

// a where c is at least zero, else b; a NaN takes b.
void lower_slct(FunctionLowering& f, const Instruction& i) {
  Builder& ir = f.ir;
  Value* a = f.read(i.operands[1], i.types[0]);
  Value* b = f.read(i.operands[2], i.types[0]);
  Value* c = f.read(i.operands[3], i.types[1]);
  Value* takes_first = nullptr;
  if (i.types[1] == Type::f32) {
    if (i.has(Modifier::ftz)) c = flush(ir, c, Type::f32);
    takes_first = ir.CreateFCmpOGE(c, llvm::ConstantFP::get(c->getType(), 0.0));
  } else {
    takes_first = ir.CreateICmpSGE(c, ir.getInt32(0));
  }
  f.write(i.operands[0], ir.CreateSelect(takes_first, a, b), i.types[0]);
}

}  // namespace softgpu::lower
