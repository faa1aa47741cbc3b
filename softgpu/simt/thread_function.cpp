#include "softgpu/simt/thread_function.hpp"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "softgpu/simt/marks.hpp"
#include "softgpu/simt/shuffle.hpp"
#include "softgpu/simt/thread_values.hpp"

namespace softgpu::simt {

using namespace llvm;

namespace {

FunctionType* with_thread(FunctionType* type) {
  SmallVector<Type*, 8> parameters{PointerType::getUnqual(type->getContext())};
  parameters.append(type->param_begin(), type->param_end());
  return FunctionType::get(type->getReturnType(), parameters, type->isVarArg());
}

Function* clone_with_thread(Function& original) {
  Function* copy =
      Function::Create(with_thread(original.getFunctionType()), original.getLinkage(), "", original.getParent());
  copy->takeName(&original);
  ValueToValueMapTy mapped;
  for (Argument& argument : original.args()) mapped[&argument] = copy->getArg(argument.getArgNo() + 1);
  SmallVector<ReturnInst*, 4> returns;
  CloneFunctionInto(copy, &original, mapped, CloneFunctionChangeType::LocalChangesOnly, returns);
  copy->removeFnAttr(Attribute::AlwaysInline);
  if (copy->hasLocalLinkage()) copy->setDSOLocal(true);
  return copy;
}

Value* exited_field(IRBuilder<>& builder, Value* thread) {
  return builder.CreateStructGEP(ThreadRecord::type(builder.getContext()), thread, ThreadRecord::exited);
}

// In place of an end that is never reached: nobody looks at what is returned.
void return_at(Instruction& end) {
  Type* type = end.getFunction()->getReturnType();
  IRBuilder<> builder(&end);
  if (type->isVoidTy())
    builder.CreateRetVoid();
  else
    builder.CreateRet(Constant::getNullValue(type));
  end.eraseFromParent();
}

// The thread ends in a function that was called: its record says so, and callers return at once.
void mark_exited(CallInst& exit) {
  IRBuilder<> builder(&exit);
  builder.CreateStore(builder.getInt32(1), exited_field(builder, exit.getFunction()->getArg(0)));
  return_at(*exit.getParent()->getTerminator());
}

void return_if_exited(CallInst& call, Value* thread) {
  IRBuilder<> builder(call.getNextNode());
  Value* exited = builder.CreateIsNotNull(builder.CreateLoad(builder.getInt32Ty(), exited_field(builder, thread)));
  return_at(*SplitBlockAndInsertIfThen(exited, &*builder.GetInsertPoint(), /*Unreachable=*/true));
}

bool has_exit(const Function& function) {
  return any_of(instructions(function), [](const Instruction& i) { return mark_of(&i) == abi::Mark::exit; });
}

// What waits stays: waiting_function.cpp makes coroutines of such functions.
void replace_marks(Function& function) {
  SmallVector<CallInst*, 8> calls;
  for (Instruction& instruction : instructions(function))
    if (mark_of(&instruction)) calls.push_back(cast<CallInst>(&instruction));
  Value* thread = function.getArg(0);
  for (CallInst* call : calls) {
    const abi::Mark mark = *mark_of(call);
    IRBuilder<> builder(call);
    if (abi::info(mark).kind == abi::MarkKind::query) {
      call->replaceAllUsesWith(query_in_called_function(builder, thread, mark));
    } else if (abi::info(mark).kind == abi::MarkKind::clock) {
      call->replaceAllUsesWith(read_clock(builder, mark));
    } else if (is_shuffle_predicate(mark)) {
      Value* lane = query_in_called_function(builder, thread, abi::Mark::laneid);
      call->replaceAllUsesWith(
          shuffle_source(builder, mark, lane, call->getArgOperand(1), call->getArgOperand(2)).inside);
    } else if (mark == abi::Mark::exit) {
      mark_exited(*call);
    } else if (mark != abi::Mark::nanosleep) {  // a thread that sleeps need not let others run
      continue;
    }
    call->eraseFromParent();
  }
}

// Calls of functions that now take the thread. All calls are direct: lowering makes a switch of those through pointers.
void pass_thread(Function& caller, const DenseMap<Function*, Function*>& replaced, bool is_kernel, bool may_exit) {
  SmallVector<CallInst*, 8> calls;
  for (BasicBlock& block : caller)
    for (Instruction& instruction : block)
      if (auto* call = dyn_cast<CallInst>(&instruction); call && replaced.contains(call->getCalledFunction()))
        calls.push_back(call);
  Module* module = caller.getParent();
  for (CallInst* call : calls) {
    IRBuilder<> builder(call);
    Value* thread = nullptr;
    if (is_kernel) {
      const auto symbol = abi::info(abi::Mark::thread).symbol;
      FunctionCallee mark = module->getOrInsertFunction(StringRef(symbol.data(), symbol.size()), builder.getPtrTy());
      cast<Function>(mark.getCallee())->setDoesNotAccessMemory();
      thread = builder.CreateCall(mark);
    } else {
      thread = caller.getArg(0);
    }
    SmallVector<Value*, 8> arguments{thread};
    arguments.append(call->arg_begin(), call->arg_end());
    CallInst* replacement = builder.CreateCall(replaced.lookup(call->getCalledFunction()), arguments);
    replacement->takeName(call);
    call->replaceAllUsesWith(replacement);
    call->eraseFromParent();
    if (may_exit) return_if_exited(*replacement, thread);
  }
}

}  // namespace

void add_thread_parameters(Function& kernel) {
  SmallVector<Function*, 8> originals;
  for (Function& function : *kernel.getParent())
    if (!function.isDeclaration() && &function != &kernel) originals.push_back(&function);
  DenseMap<Function*, Function*> replaced;
  for (Function* original : originals) replaced[original] = clone_with_thread(*original);
  const bool may_exit = any_of(originals, [](const Function* original) { return has_exit(*original); });
  pass_thread(kernel, replaced, true, may_exit);
  for (const auto& [original, copy] : replaced) pass_thread(*copy, replaced, false, may_exit);
  for (const auto& [original, copy] : replaced) {
    replace_marks(*copy);
    original->replaceAllUsesWith(copy);
    original->eraseFromParent();
  }
}

}  // namespace softgpu::simt
