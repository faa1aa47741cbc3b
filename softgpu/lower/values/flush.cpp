#include "softgpu/lower/values/flush.hpp"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

namespace softgpu::lower {

using llvm::Value;
using ptx::Type;

namespace {

constexpr llvm::StringLiteral kFlush = "softgpu.flush";

bool is_flush(const Value* value) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(value);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName() == kFlush;
}

double smallest_normal(Type element_type) {
  switch (element_type) {
    case Type::f16: return 0x1p-14;
    case Type::f64: return 0x1p-1022;
    default: return 0x1p-126;
  }
}

Value* expand(Builder& ir, Value* value, double smallest) {
  Value* size = ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
  Value* tiny = ir.CreateFCmpOLT(size, llvm::ConstantFP::get(value->getType(), smallest));
  Value* zero =
      ir.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, llvm::ConstantFP::get(value->getType(), 0.0), value);
  return ir.CreateSelect(tiny, zero, value);
}

// Whether a float can't be subnormal. Looks through what keeps that; a value that depends on itself around a loop is
// as good as what comes in.
class NeverSubnormal {
 public:
  bool operator()(Value* value) {
    if (!seen_.insert(value).second) return true;
    if (auto* constant = llvm::dyn_cast<llvm::ConstantFP>(value)) return !constant->getValueAPF().isDenormal();
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (!instruction) return false;
    switch (instruction->getOpcode()) {
      case llvm::Instruction::SIToFP:
      case llvm::Instruction::UIToFP: return true;
      case llvm::Instruction::FPExt: return true;  // from half, whose subnormals are normal floats
      case llvm::Instruction::FNeg: return (*this)(instruction->getOperand(0));
      case llvm::Instruction::Select: return (*this)(instruction->getOperand(1)) && (*this)(instruction->getOperand(2));
      case llvm::Instruction::PHI:
        return llvm::all_of(llvm::cast<llvm::PHINode>(instruction)->incoming_values(), std::ref(*this));
      case llvm::Instruction::Call: return is_flush(value) || of_intrinsic(*instruction);
      default: return false;
    }
  }

 private:
  bool of_intrinsic(llvm::Instruction& instruction) {
    auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!intrinsic) return false;
    switch (intrinsic->getIntrinsicID()) {
      case llvm::Intrinsic::roundeven:
      case llvm::Intrinsic::trunc:
      case llvm::Intrinsic::floor:
      case llvm::Intrinsic::ceil: return true;
      case llvm::Intrinsic::fabs:
      case llvm::Intrinsic::sqrt:
      case llvm::Intrinsic::copysign: return (*this)(intrinsic->getArgOperand(0));
      case llvm::Intrinsic::minnum:
      case llvm::Intrinsic::maxnum:
      case llvm::Intrinsic::minimum:
      case llvm::Intrinsic::maximum:
        return (*this)(intrinsic->getArgOperand(0)) && (*this)(intrinsic->getArgOperand(1));
      default: return false;
    }
  }

  llvm::SmallPtrSet<Value*, 16> seen_;
};

}  // namespace

Value* flush(Builder& ir, Value* value, Type element_type) {
  if (!value->getType()->isFloatTy() || element_type == Type::f16)
    return expand(ir, value, smallest_normal(element_type));
  if (NeverSubnormal()(value)) return value;  // a constant, or a result of the same instruction
  llvm::Module* module = ir.GetInsertBlock()->getModule();
  llvm::FunctionCallee call = module->getOrInsertFunction(kFlush, ir.getFloatTy(), ir.getFloatTy());
  return ir.CreateCall(call, {value});
}

void settle_flushes(llvm::Function& function) {
  llvm::SmallVector<llvm::CallInst*, 32> needed, needless;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (!is_flush(&instruction)) continue;
    auto* call = llvm::cast<llvm::CallInst>(&instruction);
    (NeverSubnormal()(call->getArgOperand(0)) ? needless : needed).push_back(call);
  }
  for (llvm::CallInst* call : needed) {
    Builder ir(call);
    call->replaceAllUsesWith(expand(ir, call->getArgOperand(0), smallest_normal(Type::f32)));
    call->eraseFromParent();
  }
  for (llvm::CallInst* call : needless) {
    call->replaceAllUsesWith(call->getArgOperand(0));
    call->eraseFromParent();
  }
  llvm::Function* marker = function.getParent()->getFunction(kFlush);
  if (marker && marker->use_empty()) marker->eraseFromParent();
}

}  // namespace softgpu::lower
