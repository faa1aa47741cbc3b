#include "softgpu/simt/shuffle.hpp"

namespace softgpu::simt {

using namespace llvm;
using abi::Mark;

// c holds a clamp value in its low bits and a segment mask above.
ShuffleSource shuffle_source(IRBuilder<>& builder, Mark mark, Value* lane, Value* b, Value* c) {
  const auto constant = [&](unsigned value) { return ConstantInt::get(lane->getType(), value); };
  b = builder.CreateAnd(b, constant(31));
  Value* clamp = builder.CreateAnd(c, constant(31));
  Value* segment = builder.CreateAnd(builder.CreateLShr(c, constant(8)), constant(31));
  Value* outside = builder.CreateNot(segment);
  Value* lowest = builder.CreateAnd(lane, segment);
  Value* limit = builder.CreateOr(lowest, builder.CreateAnd(clamp, outside));
  switch (mark) {
    case Mark::shfl_up:
    case Mark::shfl_up_p: {
      Value* source = builder.CreateSub(lane, b);
      return {source, builder.CreateICmpSGE(source, limit)};
    }
    case Mark::shfl_down:
    case Mark::shfl_down_p: {
      Value* source = builder.CreateAdd(lane, b);
      return {source, builder.CreateICmpSLE(source, limit)};
    }
    case Mark::shfl_bfly:
    case Mark::shfl_bfly_p: {
      Value* source = builder.CreateXor(lane, b);
      return {source, builder.CreateICmpSLE(source, limit)};
    }
    default: {
      Value* source = builder.CreateOr(lowest, builder.CreateAnd(b, outside));
      return {source, builder.CreateICmpSLE(source, limit)};
    }
  }
}

bool is_shuffle_predicate(Mark mark) {
  return mark == Mark::shfl_up_p || mark == Mark::shfl_down_p || mark == Mark::shfl_bfly_p || mark == Mark::shfl_idx_p;
}

}  // namespace softgpu::simt
