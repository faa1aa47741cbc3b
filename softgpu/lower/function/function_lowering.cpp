#include "softgpu/lower/function/function_lowering.hpp"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <algorithm>
#include <stdexcept>

#include "softgpu/lower/function/recover_pointers.hpp"
#include "softgpu/lower/function/register_types.hpp"
#include "softgpu/lower/values/float_formats.hpp"
#include "softgpu/lower/values/flush.hpp"

namespace softgpu::lower {

FunctionLowering::FunctionLowering(ModuleLowering& module_lowering, RowOf row_of, const ptx::Function& function,
                                   llvm::Function& target)
    : ir(module_lowering.context()),
      module(module_lowering),
      source(function),
      row_of_(row_of),
      target_(target),
      registers_(function.registers.size()),
      register_types_(choose_register_types(module_lowering.context(), function)),
      variables_(function.variables.size()) {}

void FunctionLowering::run() {
  make_blocks();
  bind_parameters();
  for (current_ = 0; current_ < source.body.size(); ++current_) {
    if (llvm::BasicBlock* labelled = block_at_[current_]; labelled && labelled != ir.GetInsertBlock()) {
      if (!ir.GetInsertBlock()->getTerminator()) ir.CreateBr(labelled);
      ir.SetInsertPoint(labelled);
    } else if (ir.GetInsertBlock()->getTerminator()) {
      ir.SetInsertPoint(new_block("dead"));
    }
    lower(source.body[current_]);
  }
  finish();
}

void FunctionLowering::make_blocks() {
  entry_ = new_block("entry");
  block_at_.resize(source.body.size() + 1);
  block_at_[0] = new_block("body");
  for (const ptx::Label& label : source.labels)
    if (!block_at_[label.target]) block_at_[label.target] = new_block(label.name.c_str());
  ir.SetInsertPoint(block_at_[0]);
}

void FunctionLowering::lower(const ptx::Instruction& instruction) {
  const Row& row = row_of_(instruction.opcode);
  if (!row.emit) refuse(instruction, "is not supported");
  ir.SetCurrentDebugLocation(module.line(instruction.where.line));
  if (!instruction.guard || row.guarding == Guarding::own) return row.emit(*this, instruction);

  llvm::Value* condition = guard_of(instruction);
  if (row.guarding == Guarding::select) {
    selecting_guard_ = condition;
    row.emit(*this, instruction);
    selecting_guard_ = nullptr;
    return;
  }
  llvm::BasicBlock* then = new_block("guarded");
  llvm::BasicBlock* next = next_block();
  ir.CreateCondBr(condition, then, next);
  ir.SetInsertPoint(then);
  row.emit(*this, instruction);
  if (!ir.GetInsertBlock()->getTerminator()) ir.CreateBr(next);
  ir.SetInsertPoint(next);
}

void FunctionLowering::finish() {
  llvm::BasicBlock* end = block_at_[source.body.size()];
  if (end) {
    if (!ir.GetInsertBlock()->getTerminator() && ir.GetInsertBlock() != end) ir.CreateBr(end);
    ir.SetInsertPoint(end);
  }
  if (!ir.GetInsertBlock()->getTerminator()) return_from_function();
  ir.SetInsertPoint(entry_);
  ir.CreateBr(block_at_[0]);

  llvm::SmallVector<llvm::AllocaInst*, 64> promotable;
  for (llvm::AllocaInst* alloca : registers_)
    if (alloca) promotable.push_back(alloca);
  if (carry_) promotable.push_back(carry_);
  llvm::DominatorTree dominators(target_);
  llvm::AssumptionCache assumptions(target_);
  llvm::PromoteMemToReg(promotable, dominators, &assumptions);
  settle_flushes(target_);
  keep_integers_near_half(target_);
  recover_pointers(target_);
}

llvm::BasicBlock* FunctionLowering::new_block(const char* name) {
  return llvm::BasicBlock::Create(module.context(), name, &target_);
}

llvm::BasicBlock* FunctionLowering::next_block() {
  llvm::BasicBlock*& next = block_at_[current_ + 1];
  if (!next) next = new_block("next");
  return next;
}

llvm::BasicBlock* FunctionLowering::block_of_label(const ptx::Symbol& symbol) {
  return block_at_[source.labels[symbol.index].target];
}

llvm::Value* FunctionLowering::guard_of(const ptx::Instruction& instruction) {
  if (!instruction.guard) return nullptr;
  llvm::AllocaInst* slot = storage(instruction.guard->predicate.index);
  llvm::Value* value = ir.CreateLoad(slot->getAllocatedType(), slot);
  return instruction.guard->negated ? ir.CreateNot(value) : value;
}

llvm::CallInst* FunctionLowering::call(abi::Mark mark, llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::CallInst* result = ir.CreateCall(module.mark(mark), arguments);
  if (abi::info(mark).waiting != abi::MarkWaiting::nobody) {
    // So that threads that wait for ever can be reported with their line.
    llvm::Metadata* line = llvm::ConstantAsMetadata::get(ir.getInt32(source.body[current_].where.line));
    result->setMetadata("softgpu.line", llvm::MDNode::get(module.context(), line));
  }
  return result;
}

llvm::CallInst* FunctionLowering::call(RuntimeCall runtime_call, llvm::ArrayRef<llvm::Value*> arguments) {
  return ir.CreateCall(module.runtime_call(runtime_call), arguments);
}

llvm::Value* FunctionLowering::intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value*> arguments) {
  return ir.CreateIntrinsic(id, {arguments[0]->getType()}, arguments);
}

void FunctionLowering::refuse(const ptx::Instruction& instruction, const std::string& why) const {
  const std::vector<std::string>& parts = module.source().parts;
  const bool named = source.part < parts.size() && !parts[source.part].empty();
  throw std::runtime_error("line " + std::to_string(instruction.where.line) + " of " +
                           (named ? "'" + parts[source.part] + "'" : "the PTX") + ": " + instruction.text + " " + why);
}

}  // namespace softgpu::lower
