#include "softgpu/simt/suspend.hpp"

#include <cstddef>

#include "llvm/IR/Module.h"
#include "softgpu/abi/kernel.hpp"
#include "softgpu/simt/marks.hpp"

namespace softgpu::simt {

using namespace llvm;
using abi::Mark;

namespace {

Value* field(IRBuilder<>& builder, Value* gang, std::size_t offset) {
  return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), gang, offset);
}

void put(IRBuilder<>& builder, Value* gang, std::size_t offset, Value* value) {
  builder.CreateStore(value, field(builder, gang, offset));
}

template <typename Enum>
Value* number(IRBuilder<>& builder, Enum value) {
  return builder.getInt32(static_cast<std::uint32_t>(value));
}

void suspend(IRBuilder<>& builder, Value* gang, abi::Suspend reason) {
  put(builder, gang, offsetof(abi::Gang, reason), number(builder, reason));
  Module* module = builder.GetInsertBlock()->getModule();
  builder.CreateCall(module->getOrInsertFunction(kSuspendMarker, builder.getVoidTy()));
}

// Of the PTX; 0 when it is not known.
std::uint32_t line_of(const CallInst& call) {
  if (const MDNode* node = call.getMetadata("softgpu.line"))
    if (const auto* constant = mdconst::dyn_extract<ConstantInt>(node->getOperand(0)))
      return static_cast<std::uint32_t>(constant->getZExtValue());
  return 0;
}

void put_line(IRBuilder<>& builder, Value* gang, const CallInst& call) {
  put(builder, gang, offsetof(abi::Gang, line), builder.getInt32(line_of(call)));
}

abi::BarrierReduction reduction_of(Mark mark) {
  switch (mark) {
    case Mark::barrier_red_and:
    case Mark::barrier_red_and_unaligned: return abi::BarrierReduction::all;
    case Mark::barrier_red_or:
    case Mark::barrier_red_or_unaligned: return abi::BarrierReduction::any;
    case Mark::barrier_red_popc:
    case Mark::barrier_red_popc_unaligned: return abi::BarrierReduction::count;
    default: return abi::BarrierReduction::none;
  }
}

}  // namespace

Value* wait_at_barrier(IRBuilder<>& builder, const CallInst& call, const BarrierSite& site) {
  const Mark mark = *mark_of(&call);
  put_line(builder, site.gang, call);
  if (mark == Mark::barrier_arrive || mark == Mark::barrier_arrive_unaligned) {
    Module* module = builder.GetInsertBlock()->getModule();
    Type* i32 = builder.getInt32Ty();
    const FunctionCallee arrive =
        module->getOrInsertFunction("softgpu_rt_barrier_arrive", builder.getVoidTy(), builder.getPtrTy(), i32, i32);
    builder.CreateCall(arrive, {site.gang, site.id, site.threads});
    return nullptr;
  }
  const abi::BarrierReduction reduction = reduction_of(mark);
  put(builder, site.gang, offsetof(abi::Gang, barrier_id), site.id);
  put(builder, site.gang, offsetof(abi::Gang, barrier_threads), site.threads);
  put(builder, site.gang, offsetof(abi::Gang, arrived), site.arrived);
  put(builder, site.gang, offsetof(abi::Gang, reduction), number(builder, reduction));
  if (site.true_predicates) put(builder, site.gang, offsetof(abi::Gang, reduction_in), site.true_predicates);
  suspend(builder, site.gang, abi::Suspend::barrier);
  if (reduction == abi::BarrierReduction::none) return nullptr;
  Value* out = builder.CreateLoad(builder.getInt32Ty(), field(builder, site.gang, offsetof(abi::Gang, result)));
  return reduction == abi::BarrierReduction::count ? out : builder.CreateIsNotNull(out);
}

bool is_cluster_barrier(Mark mark) {
  return mark == Mark::cluster_arrive || mark == Mark::cluster_arrive_unaligned || mark == Mark::cluster_wait ||
         mark == Mark::cluster_wait_unaligned;
}

void pass_cluster_barrier(IRBuilder<>& builder, const CallInst& call, Value* gang) {
  const Mark mark = *mark_of(&call);
  put_line(builder, gang, call);
  if (mark == Mark::cluster_wait || mark == Mark::cluster_wait_unaligned)
    return suspend(builder, gang, abi::Suspend::cluster_barrier);
  Module* module = builder.GetInsertBlock()->getModule();
  const FunctionCallee arrive =
      module->getOrInsertFunction("softgpu_rt_cluster_arrive", builder.getVoidTy(), builder.getPtrTy());
  builder.CreateCall(arrive, {gang});
}

Value* wait_for_warp(IRBuilder<>& builder, const CallInst& call, Value* gang) {
  const Mark mark = *mark_of(&call);
  constexpr std::size_t kRequest = offsetof(abi::Gang, warp);
  put_line(builder, gang, call);
  put(builder, gang, kRequest + offsetof(abi::WarpRequest, operation), number(builder, mark));
  const unsigned arguments = call.arg_size();
  if (arguments > 0)
    put(builder, gang, kRequest + offsetof(abi::WarpRequest, members), call.getArgOperand(arguments - 1));
  if (arguments > 1)
    put(builder, gang, kRequest + offsetof(abi::WarpRequest, value),
        builder.CreateZExt(call.getArgOperand(0), builder.getInt64Ty()));
  if (arguments == 4) {
    put(builder, gang, kRequest + offsetof(abi::WarpRequest, b), call.getArgOperand(1));
    put(builder, gang, kRequest + offsetof(abi::WarpRequest, c), call.getArgOperand(2));
  }
  suspend(builder, gang, abi::Suspend::warp);
  if (call.getType()->isVoidTy()) return nullptr;
  Value* result = builder.CreateLoad(builder.getInt32Ty(), field(builder, gang, offsetof(abi::Gang, result)));
  return call.getType()->isIntegerTy(1) ? builder.CreateIsNotNull(result) : result;
}

void yield(IRBuilder<>& builder, Value* gang) { suspend(builder, gang, abi::Suspend::yield); }

void sleep(IRBuilder<>& builder, Value* gang, Value* nanoseconds) {
  put(builder, gang, offsetof(abi::Gang, nanoseconds), nanoseconds);
  suspend(builder, gang, abi::Suspend::sleep);
}

void note_getting_on(IRBuilder<>& builder, Value* gang, Value* is_so) {
  Value* before = builder.CreateLoad(builder.getInt32Ty(), field(builder, gang, offsetof(abi::Gang, got_on)));
  put(builder, gang, offsetof(abi::Gang, got_on),
      builder.CreateOr(before, builder.CreateZExt(is_so, before->getType())));
}

void report_divergent_barrier(IRBuilder<>& builder, const CallInst& barrier) {
  Module* module = builder.GetInsertBlock()->getModule();
  const FunctionCallee report =
      module->getOrInsertFunction("softgpu_rt_divergent_barrier", builder.getVoidTy(), builder.getInt32Ty());
  CallInst* call = builder.CreateCall(report, {builder.getInt32(line_of(barrier))});
  call->setDoesNotReturn();
}

}  // namespace softgpu::simt
