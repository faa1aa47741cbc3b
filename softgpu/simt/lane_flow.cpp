#include "softgpu/simt/lane_flow.hpp"

#include "llvm/IR/MDBuilder.h"

namespace softgpu::simt {

using namespace llvm;

namespace {

BasicBlock* new_block(IRBuilder<>& builder, const char* name) {
  return BasicBlock::Create(builder.getContext(), name, builder.GetInsertBlock()->getParent());
}

}  // namespace

void branch(IRBuilder<>& builder, Value* condition, function_ref<void()> then, function_ref<void()> otherwise) {
  BasicBlock* yes = new_block(builder, "then");
  BasicBlock* no = new_block(builder, "else");
  BasicBlock* behind = new_block(builder, "behind");
  builder.CreateCondBr(condition, yes, no, MDBuilder(builder.getContext()).createLikelyBranchWeights());
  builder.SetInsertPoint(yes);
  then();
  builder.CreateBr(behind);
  builder.SetInsertPoint(no);
  otherwise();
  builder.CreateBr(behind);
  builder.SetInsertPoint(behind);
}

void for_each_lane(IRBuilder<>& builder, const Mask& mask, function_ref<void(Value*)> body) {
  Value* bits = builder.CreateZExt(mask.bits(builder), builder.getInt32Ty());
  BasicBlock* before = builder.GetInsertBlock();
  BasicBlock* loop = new_block(builder, "lane");
  BasicBlock* behind = new_block(builder, "lanes_done");
  builder.CreateBr(loop);
  builder.SetInsertPoint(loop);
  PHINode* left = builder.CreatePHI(builder.getInt32Ty(), 2);
  left->addIncoming(bits, before);
  body(builder.CreateBinaryIntrinsic(Intrinsic::cttz, left, builder.getTrue(), nullptr, "lane"));
  Value* rest = builder.CreateAnd(left, builder.CreateSub(left, builder.getInt32(1)));
  left->addIncoming(rest, builder.GetInsertBlock());
  builder.CreateCondBr(builder.CreateIsNotNull(rest), loop, behind);
  builder.SetInsertPoint(behind);
}

}  // namespace softgpu::simt
