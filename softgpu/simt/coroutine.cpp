#include "softgpu/simt/coroutine.hpp"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "softgpu/simt/suspend.hpp"

namespace softgpu::simt {

using namespace llvm;

namespace {

using MakeCall = function_ref<CallInst*(IRBuilder<>&, const Frame&)>;

class CoroutineMaker {
 public:
  explicit CoroutineMaker(Function& ramp)
      : context_(ramp.getContext()), module_(ramp.getParent()), builder_(context_), ramp_(&ramp) {}

  void make(MakeCall make_call) {
    const Frame frame = begin();
    CallInst* call = make_call(builder_, frame);
    end();
    InlineFunctionInfo info;
    InlineFunction(*call, info);
    replace_markers();
  }

 private:
  Function* intrinsic(Intrinsic::ID id, ArrayRef<Type*> types = {}) {
    return Intrinsic::getDeclaration(module_, id, types);
  }

  Frame begin() {
    builder_.SetInsertPoint(BasicBlock::Create(context_, "entry", ramp_));
    Value* null = ConstantPointerNull::get(builder_.getPtrTy());
    Value* id = builder_.CreateCall(intrinsic(Intrinsic::coro_id), {builder_.getInt32(0), null, null, null});
    // Both become constants once the frame is laid out. It is aligned as the largest vector that it keeps.
    Type* i64 = builder_.getInt64Ty();
    Frame frame{builder_.CreateCall(intrinsic(Intrinsic::coro_size, {i64})),
                builder_.CreateCall(intrinsic(Intrinsic::coro_align, {i64})), nullptr};
    const FunctionCallee allocate =
        module_->getOrInsertFunction("softgpu_rt_allocate_frame", builder_.getPtrTy(), i64, i64);
    Value* memory = builder_.CreateCall(allocate, {frame.size, frame.alignment});
    frame_ = frame.address = builder_.CreateCall(intrinsic(Intrinsic::coro_begin), {id, memory});
    return frame;
  }

  void end() {
    BasicBlock* last = BasicBlock::Create(context_, "last", ramp_);
    BasicBlock* never = BasicBlock::Create(context_, "never", ramp_);
    out_ = BasicBlock::Create(context_, "out", ramp_);
    builder_.CreateBr(last);
    builder_.SetInsertPoint(last);
    suspend(never, true);
    builder_.SetInsertPoint(never);
    builder_.CreateUnreachable();
    builder_.SetInsertPoint(out_);
    builder_.CreateCall(intrinsic(Intrinsic::coro_end),
                        {frame_, builder_.getFalse(), ConstantTokenNone::get(context_)});
    builder_.CreateRet(frame_);
  }

  // Frames are never destroyed by code: whoever started the coroutine takes their memory back.
  void suspend(BasicBlock* resumed, bool is_last) {
    Value* state = builder_.CreateCall(intrinsic(Intrinsic::coro_suspend),
                                       {ConstantTokenNone::get(context_), builder_.getInt1(is_last)});
    SwitchInst* way = builder_.CreateSwitch(state, out_, 2);
    way->addCase(builder_.getInt8(0), resumed);
    way->addCase(builder_.getInt8(1), out_);
  }

  void replace_markers() {
    SmallVector<CallInst*, 8> markers;
    for (Instruction& instruction : instructions(ramp_))
      if (auto* call = dyn_cast<CallInst>(&instruction))
        if (const Function* callee = call->getCalledFunction(); callee && callee->getName() == kSuspendMarker)
          markers.push_back(call);
    for (CallInst* marker : reverse(markers)) {  // the last first: what is behind it moves to another block
      BasicBlock* before = marker->getParent();
      BasicBlock* resumed = before->splitBasicBlock(marker, "resumed");
      marker->eraseFromParent();
      before->getTerminator()->eraseFromParent();
      builder_.SetInsertPoint(before);
      suspend(resumed, false);
    }
  }

  LLVMContext& context_;
  Module* module_;
  IRBuilder<> builder_;
  Function* ramp_;
  Value* frame_ = nullptr;
  BasicBlock* out_ = nullptr;
};

}  // namespace

Function* declare_coroutine(Function& body, ArrayRef<Type*> parameters) {
  auto* type = FunctionType::get(PointerType::getUnqual(body.getContext()), parameters, false);
  Function* ramp = Function::Create(type, GlobalValue::InternalLinkage, body.getName() + ".ramp", body.getParent());
  ramp->setPresplitCoroutine();
  ramp->addFnAttr(Attribute::NoInline);
  ramp->addFnAttr(Attribute::NoUnwind);
  ramp->addFnAttr(Attribute::NullPointerIsValid);
  return ramp;
}

void define_coroutine(Function& coroutine, MakeCall call) { CoroutineMaker(coroutine).make(call); }

Value* await(IRBuilder<>& builder, Function& coroutine, ArrayRef<Value*> arguments) {
  Module* module = coroutine.getParent();
  Value* frame = builder.CreateCall(&coroutine, arguments, "frame");
  BasicBlock* behind = SplitBlock(builder.GetInsertBlock(), &*builder.GetInsertPoint());
  BasicBlock* before = behind->getSinglePredecessor();
  before->getTerminator()->eraseFromParent();
  BasicBlock* wait = BasicBlock::Create(builder.getContext(), "wait", before->getParent(), behind);
  builder.SetInsertPoint(before);
  Value* resume_function = builder.CreateLoad(builder.getPtrTy(), frame);
  builder.CreateCondBr(builder.CreateIsNull(resume_function), behind, wait);
  builder.SetInsertPoint(wait);
  builder.CreateCall(module->getOrInsertFunction(kSuspendMarker, builder.getVoidTy()));
  builder.CreateBr(behind);
  builder.SetInsertPoint(behind, behind->begin());
  return frame;
}

}  // namespace softgpu::simt
