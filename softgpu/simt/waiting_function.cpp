#include "softgpu/simt/waiting_function.hpp"

#include <cstddef>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "softgpu/abi/kernel.hpp"
#include "softgpu/simt/coroutine.hpp"
#include "softgpu/simt/local_memory.hpp"
#include "softgpu/simt/marks.hpp"
#include "softgpu/simt/thread_gang.hpp"
#include "softgpu/simt/thread_values.hpp"

namespace softgpu::simt {

using namespace llvm;

namespace {

using Functions = SetVector<Function*>;

bool waits(const Instruction& instruction) {
  const auto mark = mark_of(&instruction);
  return mark && abi::info(*mark).waiting != abi::MarkWaiting::nobody;
}

const Function* callee_of(const Instruction& instruction) {
  const auto* call = dyn_cast<CallInst>(&instruction);
  return call ? call->getCalledFunction() : nullptr;
}

// Those in which something waits, and those that call them.
Functions waiting_functions(Function& root) {
  Functions found;
  for (bool changed = true; changed;) {
    changed = false;
    for (Function& function : *root.getParent()) {
      if (function.isDeclaration() || &function == &root) continue;
      const bool is_one = any_of(instructions(function), [&](const Instruction& instruction) {
        return waits(instruction) || found.contains(const_cast<Function*>(callee_of(instruction)));
      });
      if (is_one) changed |= found.insert(&function);
    }
  }
  return found;
}

void replace_waits(Function& function) {
  SmallVector<CallInst*, 8> calls;
  for (Instruction& instruction : instructions(function))
    if (waits(instruction)) calls.push_back(cast<CallInst>(&instruction));
  for (CallInst* call : calls) {
    IRBuilder<> builder(call);
    if (Value* result = wait_alone(*call, gang_in_called_function(builder, function.getArg(0))))
      call->replaceAllUsesWith(result);
    call->eraseFromParent();
  }
}

// What a called coroutine leaves for its caller: its frame's size and alignment, and the function's result.
StructType* outcome_type(const Function& function) {
  Type* i64 = Type::getInt64Ty(function.getContext());
  Type* result = function.getReturnType();
  return StructType::get(function.getContext(), {i64, i64, result->isVoidTy() ? i64 : result});
}

// Takes the function's arguments and where to put the outcome.
Function* declare_callable(Function& function) {
  SmallVector<Type*, 8> parameters(function.getFunctionType()->params());
  parameters.push_back(PointerType::getUnqual(function.getContext()));
  return declare_coroutine(function, parameters);
}

// While it runs or waits, its frame is the gang's innermost one.
void define_callable(Function& coroutine, Function& function) {
  define_coroutine(coroutine, [&](IRBuilder<>& builder, const Frame& frame) {
    StructType* type = outcome_type(function);
    Value* outcome = coroutine.getArg(static_cast<unsigned>(coroutine.arg_size() - 1));
    builder.CreateStore(frame.size, builder.CreateStructGEP(type, outcome, 0));
    builder.CreateStore(frame.alignment, builder.CreateStructGEP(type, outcome, 1));
    Value* gang = gang_in_called_function(builder, coroutine.getArg(0));
    Value* innermost = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), gang, offsetof(abi::Gang, innermost));
    Value* caller = builder.CreateLoad(builder.getPtrTy(), innermost, "caller");
    builder.CreateStore(frame.address, innermost);
    SmallVector<Value*, 8> arguments;
    for (Argument& argument : drop_end(coroutine.args())) arguments.push_back(&argument);
    CallInst* call = builder.CreateCall(&function, arguments);
    if (!call->getType()->isVoidTy()) builder.CreateStore(call, builder.CreateStructGEP(type, outcome, 2));
    builder.CreateStore(caller, innermost);
    return call;
  });
}

void call_coroutine(CallInst& call, Function& coroutine) {
  Function* caller = call.getFunction();
  StructType* type = outcome_type(*call.getCalledFunction());
  Value* outcome = IRBuilder<>(&*caller->getEntryBlock().begin()).CreateAlloca(type, nullptr, "outcome");
  IRBuilder<> builder(&call);
  SmallVector<Value*, 8> arguments(call.args());
  arguments.push_back(outcome);
  Value* frame = await(builder, coroutine, arguments);
  const auto field = [&](unsigned index) {
    return builder.CreateLoad(type->getElementType(index), builder.CreateStructGEP(type, outcome, index));
  };
  if (!call.getType()->isVoidTy()) call.replaceAllUsesWith(field(2));
  Type* i64 = builder.getInt64Ty();
  const FunctionCallee release = caller->getParent()->getOrInsertFunction(
      "softgpu_rt_release_frame", builder.getVoidTy(), builder.getPtrTy(), i64, i64);
  builder.CreateCall(release, {frame, field(0), field(1)});
  call.eraseFromParent();
}

}  // namespace

bool calls_waiting_functions(Function& kernel) { return !waiting_functions(kernel).empty(); }

void make_waiting_functions(Function& gang) {
  const Functions functions = waiting_functions(gang);
  DenseMap<const Function*, Function*> coroutines;
  for (Function* function : functions) {
    replace_waits(*function);
    move_local_memory_of_waiting_function(*function);
    coroutines[function] = declare_callable(*function);
  }
  // In the bodies first, before they become part of coroutines.
  SmallVector<CallInst*, 8> calls;
  for (Function& caller : *gang.getParent())
    for (Instruction& instruction : instructions(caller))
      if (coroutines.contains(callee_of(instruction))) calls.push_back(cast<CallInst>(&instruction));
  for (CallInst* call : calls) call_coroutine(*call, *coroutines.lookup(call->getCalledFunction()));
  for (Function* function : functions) define_callable(*coroutines.lookup(function), *function);
  for (Function* function : functions) function->eraseFromParent();
}

}  // namespace softgpu::simt
