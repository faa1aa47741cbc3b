#include "softgpu/simt/entry.hpp"

#include <cstddef>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "softgpu/simt/code_length.hpp"
#include "softgpu/simt/coroutine.hpp"
#include "softgpu/simt/thread_values.hpp"

namespace softgpu::simt {

using namespace llvm;

namespace {

// Emits `for (i = 0; i < end; i += step) body(i)` where end is a positive multiple of step, and goes on behind it.
template <typename Body>
void count_up(IRBuilder<>& builder, Value* end, unsigned step, const char* name, Body&& body) {
  Function* function = builder.GetInsertBlock()->getParent();
  BasicBlock* before = builder.GetInsertBlock();
  BasicBlock* loop = BasicBlock::Create(builder.getContext(), name, function);
  builder.CreateBr(loop);
  builder.SetInsertPoint(loop);
  PHINode* i = builder.CreatePHI(builder.getInt32Ty(), 2, name);
  i->addIncoming(builder.getInt32(0), before);
  body(i);
  Value* next = builder.CreateAdd(i, builder.getInt32(step), "", true, true);
  i->addIncoming(next, builder.GetInsertBlock());
  BasicBlock* behind = BasicBlock::Create(builder.getContext(), "behind", function);
  BranchInst* again = builder.CreateCondBr(builder.CreateICmpULT(next, end), loop, behind);
  // A gang's code is long enough as it is.
  LLVMContext& context = builder.getContext();
  MDNode* once = MDNode::get(context, MDString::get(context, "llvm.loop.unroll.disable"));
  MDNode* properties = MDNode::getDistinct(context, {nullptr, once});
  properties->replaceOperandWith(0, properties);
  again->setMetadata(LLVMContext::MD_loop, properties);
  builder.SetInsertPoint(behind);
}

struct BlockSize {
  Value *x, *y, *z;
  BlockSize(IRBuilder<>& builder, Value* block)
      : x(load_block_field(builder, block, offsetof(abi::Block, size.x), builder.getInt32Ty())),
        y(load_block_field(builder, block, offsetof(abi::Block, size.y), builder.getInt32Ty())),
        z(load_block_field(builder, block, offsetof(abi::Block, size.z), builder.getInt32Ty())) {}
  Value* threads(IRBuilder<>& builder) const { return builder.CreateMul(x, builder.CreateMul(y, z)); }
};

// Atomic, so that it is there when the gang faults. A volatile one might not return, as far as LLVM knows, and what the
// gangs all read would not be moved out of the loop over them.
void call_gang(IRBuilder<>& builder, Function* gang, ArrayRef<Value*> arguments) {
  Value* running = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), arguments[0], offsetof(abi::Block, running));
  builder.CreateStore(arguments[2], running)->setAtomic(AtomicOrdering::Monotonic);
  builder.CreateCall(gang, arguments);
}

void run_rows(IRBuilder<>& builder, Function* gang, Value* block, unsigned width) {
  const BlockSize size(builder, block);
  Value* no_gang = ConstantPointerNull::get(builder.getPtrTy());
  count_up(builder, size.z, 1, "z", [&](Value* z) {
    count_up(builder, size.y, 1, "y", [&](Value* y) {
      Value* row = builder.CreateMul(builder.CreateAdd(builder.CreateMul(z, size.y), y), size.x);
      count_up(builder, size.x, width, "x", [&](Value* x) {
        call_gang(builder, gang, {block, no_gang, builder.CreateAdd(row, x), x, y, z, builder.getInt32(width)});
      });
    });
  });
}

void run_linear(IRBuilder<>& builder, const GangFunctions& gangs, Value* block, unsigned width) {
  const BlockSize size(builder, block);
  Value* threads = size.threads(builder);
  Value* in_full = builder.CreateAnd(threads, builder.getInt32(~(width - 1)));
  Value* none = builder.getInt32(0);
  Value* no_gang = ConstantPointerNull::get(builder.getPtrTy());
  Function* function = builder.GetInsertBlock()->getParent();
  const auto when = [&](Value* condition, auto&& body) {
    BasicBlock* then = BasicBlock::Create(builder.getContext(), "then", function);
    BasicBlock* behind = BasicBlock::Create(builder.getContext(), "behind", function);
    builder.CreateCondBr(condition, then, behind);
    builder.SetInsertPoint(then);
    body();
    builder.CreateBr(behind);
    builder.SetInsertPoint(behind);
  };
  when(builder.CreateIsNotNull(in_full), [&] {
    count_up(builder, in_full, width, "first", [&](Value* first) {
      call_gang(builder, gangs.full, {block, no_gang, first, first, none, none, builder.getInt32(width)});
    });
  });
  Value* left = builder.CreateSub(threads, in_full);
  when(builder.CreateIsNotNull(left),
       [&] { call_gang(builder, gangs.partial, {block, no_gang, in_full, in_full, none, none, left}); });
}

// Kept in the gang rather than computed in the coroutine, where the divisions would be done again after each
// suspension.
void store_first_thread(IRBuilder<>& builder, Value* gang, abi::BlockShape shape) {
  Value* first = load_block_field(builder, gang, offsetof(abi::Gang, first_thread), builder.getInt32Ty());
  Value *x = first, *y = builder.getInt32(0), *z = builder.getInt32(0);
  if (shape == abi::BlockShape::rows) {
    Value* block = load_block_field(builder, gang, offsetof(abi::Gang, block), builder.getPtrTy());
    const BlockSize size(builder, block);
    Value* row = builder.CreateUDiv(first, size.x);
    x = builder.CreateURem(first, size.x);
    y = builder.CreateURem(row, size.y);
    z = builder.CreateUDiv(row, size.y);
  }
  const auto put = [&](std::size_t offset, Value* value) {
    builder.CreateStore(value, builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), gang, offset));
  };
  put(offsetof(abi::Gang, thread.x), x);
  put(offsetof(abi::Gang, thread.y), y);
  put(offsetof(abi::Gang, thread.z), z);
}

// A coroutine that takes the abi::Gang.
Function* make_gang_coroutine(Function& gang) {
  Function* ramp = declare_coroutine(gang, {PointerType::getUnqual(gang.getContext())});
  define_coroutine(*ramp, [&](IRBuilder<>& builder, const Frame&) {
    Value* own = ramp->getArg(0);
    const auto field = [&](std::size_t offset, Type* type) { return load_block_field(builder, own, offset, type); };
    Value* block = field(offsetof(abi::Gang, block), builder.getPtrTy());
    Value* first = field(offsetof(abi::Gang, first_thread), builder.getInt32Ty());
    Value* lanes = field(offsetof(abi::Gang, lanes), builder.getInt32Ty());
    Value* x = field(offsetof(abi::Gang, thread.x), builder.getInt32Ty());
    Value* y = field(offsetof(abi::Gang, thread.y), builder.getInt32Ty());
    Value* z = field(offsetof(abi::Gang, thread.z), builder.getInt32Ty());
    return builder.CreateCall(&gang, {block, own, first, x, y, z, lanes});
  });
  return ramp;
}

}  // namespace

Function* make_run_block(const GangFunctions& gangs, abi::BlockShape shape, unsigned width, const char* name) {
  Module* module = gangs.full->getParent();
  IRBuilder<> builder(module->getContext());
  auto* type = FunctionType::get(builder.getVoidTy(), {builder.getPtrTy()}, false);
  Function* entry = Function::Create(type, GlobalValue::ExternalLinkage, name, module);
  entry->addFnAttr(Attribute::NoUnwind);
  entry->addFnAttr(Attribute::NullPointerIsValid);
  builder.SetInsertPoint(BasicBlock::Create(module->getContext(), "entry", entry));
  // In the loop over gangs what all of them compute alike is computed once. But then the loop is all of the kernel, and
  // what is moved out of it is kept throughout.
  gangs.full->addFnAttr(is_long(*gangs.full) ? Attribute::NoInline : Attribute::AlwaysInline);
  if (gangs.partial) gangs.partial->addFnAttr(Attribute::NoInline);
  if (shape == abi::BlockShape::rows)
    run_rows(builder, gangs.full, entry->getArg(0), width);
  else
    run_linear(builder, gangs, entry->getArg(0), width);
  builder.CreateRetVoid();
  return entry;
}

Function* make_start_gang(const GangFunctions& gangs, abi::BlockShape shape, unsigned width, const char* name) {
  Module* module = gangs.full->getParent();
  Function* full = make_gang_coroutine(*gangs.full);
  Function* partial = gangs.partial ? make_gang_coroutine(*gangs.partial) : nullptr;
  IRBuilder<> builder(module->getContext());
  auto* type = FunctionType::get(builder.getPtrTy(), {builder.getPtrTy()}, false);
  Function* entry = Function::Create(type, GlobalValue::ExternalLinkage, name, module);
  entry->addFnAttr(Attribute::NoUnwind);
  entry->addFnAttr(Attribute::NullPointerIsValid);
  builder.SetInsertPoint(BasicBlock::Create(module->getContext(), "entry", entry));
  Value* gang = entry->getArg(0);
  store_first_thread(builder, gang, shape);
  Value* ramp = full;
  if (partial) {
    Value* lanes = load_block_field(builder, gang, offsetof(abi::Gang, lanes), builder.getInt32Ty());
    ramp = builder.CreateSelect(builder.CreateICmpEQ(lanes, builder.getInt32(width)), full, partial);
  }
  Value* frame = builder.CreateCall(type, ramp, {gang});
  // At its end a coroutine leaves null where its resume function was.
  Value* resume = builder.CreateLoad(builder.getPtrTy(), frame);
  Value* null = ConstantPointerNull::get(builder.getPtrTy());
  builder.CreateRet(builder.CreateSelect(builder.CreateIsNull(resume), null, frame));
  return entry;
}

}  // namespace softgpu::simt
