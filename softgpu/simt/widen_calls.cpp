// Calls: intrinsics that have a vector form, marked functions, and the rest lane by lane.
#include <stdexcept>

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Module.h"
#include "softgpu/simt/marks.hpp"
#include "softgpu/simt/suspend.hpp"
#include "softgpu/simt/widen.hpp"

namespace softgpu::simt {

using namespace llvm;
using abi::Mark;
using abi::MarkKind;

void Widener::emit_call(CallInst& original) {
  if (const auto mark = mark_of(&original)) return emit_mark(original, *mark);
  if (auto* intrinsic = dyn_cast<IntrinsicInst>(&original)) return emit_intrinsic(*intrinsic);
  if (!original.getType()->isVoidTy() && shape(&original).is_uniform()) return emit_at_lane_0(original);
  emit_lane_by_lane(original);
}

void Widener::emit_intrinsic(IntrinsicInst& original) {
  if (original.isAssumeLikeIntrinsic()) return;
  if (!original.getType()->isVoidTy() && shape(&original).is_uniform()) return emit_at_lane_0(original);
  const Intrinsic::ID id = original.getIntrinsicID();
  if (!isTriviallyVectorizable(id)) return emit_lane_by_lane(original);
  SmallVector<Value*, 4> arguments;
  SmallVector<Type*, 4> overloads;
  if (isVectorIntrinsicWithOverloadTypeAtArg(id, -1)) overloads.push_back(wide(original.getType()));
  for (const auto& [i, argument] : enumerate(original.args())) {
    const auto position = static_cast<int>(i);
    arguments.push_back(isVectorIntrinsicWithScalarOpAtArg(id, static_cast<unsigned>(position)) ? base_of(argument)
                                                                                                : vector_of(argument));
    if (isVectorIntrinsicWithOverloadTypeAtArg(id, position)) overloads.push_back(arguments.back()->getType());
  }
  Function* vector_form = Intrinsic::getDeclaration(gang_.getParent(), id, overloads);
  CallInst* call = builder_.CreateCall(vector_form, arguments, original.getName());
  if (isa<FPMathOperator>(call)) call->copyFastMathFlags(&original);
  define(original, {nullptr, call});
}

void Widener::emit_mark(CallInst& original, Mark mark) {
  switch (abi::info(mark).kind) {
    case MarkKind::query:
      if (shape(&original).has_base())
        define(original, {thread_values_.base(mark)});
      else
        define(original, {nullptr, thread_values_.vector(mark)});
      return;
    case MarkKind::clock: return define(original, {read_clock(builder_, mark)});
    case MarkKind::block: return emit_barrier(original, mark);
    case MarkKind::warp: return emit_warp(original, mark);
    case MarkKind::control:
      if (mark == Mark::nanosleep || mark == Mark::spin) return yield(builder_, arguments_.gang);
      throw std::logic_error("exit is turned into a branch before widening");
  }
}

// ---- Lane by lane ------------------------------------------------------------------------------

void Widener::for_each_lane(Value* mask, const std::function<void(Value*)>& body) {
  Value* bits = builder_.CreateZExt(mask_bits(mask), builder_.getInt32Ty());
  BasicBlock* before = builder_.GetInsertBlock();
  BasicBlock* loop = BasicBlock::Create(context_, "lane", &gang_);
  BasicBlock* behind = BasicBlock::Create(context_, "lanes_done", &gang_);
  builder_.CreateBr(loop);  // a block never runs without a lane
  builder_.SetInsertPoint(loop);
  PHINode* left = builder_.CreatePHI(builder_.getInt32Ty(), 2);
  left->addIncoming(bits, before);
  body(builder_.CreateBinaryIntrinsic(Intrinsic::cttz, left, builder_.getTrue(), nullptr, "lane"));
  Value* rest = builder_.CreateAnd(left, builder_.CreateSub(left, builder_.getInt32(1)));
  left->addIncoming(rest, builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateIsNotNull(rest), loop, behind);
  builder_.SetInsertPoint(behind);
}

Value* Widener::in_lane(Value* original, Value* lane) {
  if (isa<Constant>(original)) return original;
  const Shape s = shape(original);
  if (s.is_uniform()) return base_of(original);
  if (s.is_strided() && !s.guarded) {
    Value* base = base_of(original);
    const bool is_pointer = base->getType()->isPointerTy();
    Type* type = is_pointer ? builder_.getInt64Ty() : base->getType();
    Value* offset = builder_.CreateMul(builder_.CreateZExtOrTrunc(lane, type),
                                       ConstantInt::get(type, static_cast<std::uint64_t>(s.stride), true));
    return is_pointer ? builder_.CreateGEP(builder_.getInt8Ty(), base, offset) : builder_.CreateAdd(base, offset);
  }
  return builder_.CreateExtractElement(vector_of(original), lane);
}

void Widener::emit_lane_by_lane(Instruction& original) {
  // Read everything here, so that nothing first read inside the loop is remembered for behind it.
  for (Value* operand : original.operands()) {
    if (isa<Constant>(operand) || isa<BasicBlock>(operand)) continue;
    const Shape s = shape(operand);
    if (s.has_base() && !s.guarded)
      base_of(operand);
    else
      vector_of(operand);
  }
  auto* pair = dyn_cast<StructType>(original.getType());
  Type* type = pair ? pair->getElementType(0) : original.getType();
  AllocaInst* result = type->isVoidTy() ? nullptr : new_slot(wide(type), original.getName());
  AllocaInst* success = pair ? new_slot(wide(builder_.getInt1Ty()), original.getName() + ".success") : nullptr;
  const auto put = [&](Value* value, AllocaInst* slot, Value* lane) {
    Value* vector = builder_.CreateLoad(slot->getAllocatedType(), slot);
    builder_.CreateStore(builder_.CreateInsertElement(vector, value, lane), slot);
  };
  for_each_lane(lanes_on(), [&](Value* lane) {
    Instruction* copy = original.clone();
    for (Use& operand : copy->operands()) operand.set(in_lane(operand.get(), lane));
    builder_.Insert(copy);
    if (success) {
      put(builder_.CreateExtractValue(copy, 0), result, lane);
      put(builder_.CreateExtractValue(copy, 1), success, lane);
    } else if (result) {
      put(copy, result, lane);
    }
  });
  if (!result) return;
  Value* vector = builder_.CreateLoad(wide(type), result);
  if (success) {
    local_[&original].vector = vector;
    success_[&original] = builder_.CreateLoad(wide(builder_.getInt1Ty()), success);
    return;
  }
  define(original, {nullptr, vector});
}

// ---- Barriers ----------------------------------------------------------------------------------

void Widener::emit_barrier(CallInst& original, Mark mark) {
  // Lanes that wait for nobody any more don't count; lanes that are elsewhere must not exist.
  Value* live = entry_mask_ ? entry_mask_ : Constant::getAllOnesValue(wide(builder_.getInt1Ty()));
  for (const BasicBlock* block : layout_.ways_out())
    live = builder_.CreateAnd(live, builder_.CreateNot(builder_.CreateLoad(live->getType(), gone_[block])));
  Value* here = mask_bits(lanes_on());
  if (mask_) {
    Value* together = builder_.CreateICmpEQ(here, mask_bits(live));
    branch(together, [] {}, [&] { report_divergent_barrier(builder_, original); });
  }
  if (is_cluster_barrier(mark)) return pass_cluster_barrier(builder_, original, arguments_.gang);
  Value* arrived = builder_.CreateZExtOrTrunc(
      builder_.CreateUnaryIntrinsic(Intrinsic::ctpop, builder_.CreateZExt(here, builder_.getInt64Ty())),
      builder_.getInt32Ty());
  const auto uniform = [&](unsigned i) -> Value* {
    Value* argument = original.getArgOperand(i);
    if (shape(argument).is_uniform()) return base_of(argument);
    // All lanes name the same barrier; take the first one's word for it.
    return builder_.CreateExtractElement(vector_of(argument), first_lane_on());
  };
  BarrierSite site{arguments_.gang, uniform(0), uniform(1), arrived, nullptr};
  if (abi::info(mark).arguments.size() == 3) {
    Value* true_lanes = mask_bits(both(mask_, vector_of(original.getArgOperand(2))));
    site.true_predicates = builder_.CreateZExtOrTrunc(
        builder_.CreateUnaryIntrinsic(Intrinsic::ctpop, builder_.CreateZExt(true_lanes, builder_.getInt64Ty())),
        builder_.getInt32Ty());
  }
  Value* result = wait_at_barrier(builder_, original, site);
  if (result) define(original, {result});
}

}  // namespace softgpu::simt
