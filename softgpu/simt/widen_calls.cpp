// Calls: intrinsics that have a vector form, marked functions, barriers among them, and the rest lane by lane.
#include <stdexcept>

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Module.h"
#include "softgpu/simt/lane_flow.hpp"
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
  if (!original.getType()->isVoidTy() && shape(&original).is_uniform()) return plain_.emit_at_lane_0(original);
  plain_.emit_lane_by_lane(original);
}

void Widener::emit_intrinsic(IntrinsicInst& original) {
  if (original.isAssumeLikeIntrinsic()) return;
  if (!original.getType()->isVoidTy() && shape(&original).is_uniform()) return plain_.emit_at_lane_0(original);
  const Intrinsic::ID id = original.getIntrinsicID();
  if (!isTriviallyVectorizable(id)) return plain_.emit_lane_by_lane(original);
  SmallVector<Value*, 4> arguments;
  SmallVector<Type*, 4> overloads;
  if (isVectorIntrinsicWithOverloadTypeAtArg(id, -1)) overloads.push_back(wide(original.getType()));
  for (const auto& [i, argument] : enumerate(original.args())) {
    const auto position = static_cast<int>(i);
    arguments.push_back(isVectorIntrinsicWithScalarOpAtArg(id, static_cast<unsigned>(position))
                            ? values_.base(argument)
                            : values_.vector(argument));
    if (isVectorIntrinsicWithOverloadTypeAtArg(id, position)) overloads.push_back(arguments.back()->getType());
  }
  Function* vector_form = Intrinsic::getDeclaration(gang_.getParent(), id, overloads);
  CallInst* call = builder_.CreateCall(vector_form, arguments, original.getName());
  if (isa<FPMathOperator>(call)) call->copyFastMathFlags(&original);
  values_.define(original, GangValue::of_vector(call));
}

void Widener::emit_mark(CallInst& original, Mark mark) {
  switch (abi::info(mark).kind) {
    case MarkKind::query:
      if (shape(&original).has_base())
        values_.define(original, GangValue::of_base(thread_values_.base(mark)));
      else
        values_.define(original, GangValue::of_vector(thread_values_.vector(mark)));
      return;
    case MarkKind::clock: return values_.define(original, GangValue::of_base(read_clock(builder_, mark)));
    case MarkKind::block: return emit_barrier(original, mark);
    case MarkKind::warp: return warp_.emit(original, mark);
    case MarkKind::note: return emit_address(original);
    case MarkKind::control:
      if (mark == Mark::nanosleep) return emit_sleep(original);
      if (mark == Mark::spin) return yield(builder_, arguments_.gang);
      if (mark == Mark::spun) return note_getting_on(builder_, arguments_.gang, mask_.has_any(builder_));
      throw std::logic_error("exit is turned into a branch before widening");
  }
}

// The gang sleeps as long as the lane that asks for least: a thread may sleep less than it asks for, but not much more.
void Widener::emit_sleep(CallInst& original) {
  Value* asked = original.getArgOperand(0);
  if (shape(asked).is_uniform()) return sleep(builder_, arguments_.gang, values_.base(asked));
  Value* longest = Constant::getAllOnesValue(original.getArgOperand(0)->getType());
  Value* lanes = mask_.choose(builder_, values_.vector(asked), longest);
  sleep(builder_, arguments_.gang, builder_.CreateIntMinReduce(lanes));
}

// A note of one thread's address becomes one of the gang's: of the only one that matters, or of whether any lane has a
// bad one.
void Widener::emit_address(CallInst& original) {
  Value* address = original.getArgOperand(0);
  const Shape s = shape(address);
  const auto alignment = static_cast<std::int64_t>(cast<ConstantInt>(original.getArgOperand(1))->getZExtValue());
  auto* note = cast<CallInst>(original.clone());
  if (s.has_base() && !s.guarded && s.stride % alignment == 0) {
    note->setArgOperand(0, values_.base(address));
  } else {
    Value* lanes = values_.vector(address);
    Value* low_bits =
        builder_.CreateAnd(lanes, ConstantInt::get(lanes->getType(), static_cast<std::uint64_t>(alignment - 1)));
    const Mask bad = mask_.where(builder_, builder_.CreateIsNotNull(low_bits));
    note->setArgOperand(0, builder_.CreateZExt(bad.has_any(builder_), builder_.getInt64Ty()));
  }
  builder_.Insert(note);
}

// ---- Barriers ----------------------------------------------------------------------------------

void Widener::emit_barrier(CallInst& original, Mark mark) {
  // Lanes that wait for nobody any more don't count; lanes that are elsewhere must not exist.
  Value* live = entry_mask_.vector();
  for (const BasicBlock* block : layout_.ways_out())
    live = builder_.CreateAnd(live, builder_.CreateNot(builder_.CreateLoad(live->getType(), gone_[block])));
  if (!mask_.is_all()) {
    Value* together = builder_.CreateICmpEQ(mask_.bits(builder_), Mask(live).bits(builder_));
    branch(builder_, together, [] {}, [&] { report_divergent_barrier(builder_, original); });
  }
  if (is_cluster_barrier(mark)) return pass_cluster_barrier(builder_, original, arguments_.gang);
  const auto uniform = [&](unsigned i) -> Value* {
    Value* argument = original.getArgOperand(i);
    if (shape(argument).is_uniform()) return values_.base(argument);
    // All lanes name the same barrier; take the first one's word for it.
    return builder_.CreateExtractElement(values_.vector(argument), mask_.first_lane(builder_));
  };
  BarrierSite site{arguments_.gang, uniform(0), uniform(1), mask_.count(builder_), nullptr};
  if (abi::info(mark).arguments.size() == 3)
    site.true_predicates = mask_.where(builder_, values_.vector(original.getArgOperand(2))).count(builder_);
  Value* result = wait_at_barrier(builder_, original, site);
  if (result) values_.define(original, GangValue::of_base(result));
}

}  // namespace softgpu::simt
