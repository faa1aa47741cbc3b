#include "softgpu/simt/suspend.hpp"

#include <cstddef>

#include "llvm/IR/Module.h"
#include "softgpu/abi/kernel.hpp"

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

abi::BarrierReduction reduction_of(Mark mark) {
  switch (mark) {
    case Mark::barrier_red_and: return abi::BarrierReduction::all;
    case Mark::barrier_red_or: return abi::BarrierReduction::any;
    case Mark::barrier_red_popc: return abi::BarrierReduction::count;
    default: return abi::BarrierReduction::none;
  }
}

}  // namespace

Value* wait_at_barrier(IRBuilder<>& builder, Mark mark, const BarrierSite& site) {
  if (mark == Mark::barrier_arrive) {
    Module* module = builder.GetInsertBlock()->getModule();
    Type* i32 = builder.getInt32Ty();
    const FunctionCallee arrive = module->getOrInsertFunction("softgpu_rt_barrier_arrive", builder.getVoidTy(),
                                                              builder.getPtrTy(), i32, i32, i32);
    builder.CreateCall(arrive, {site.gang, site.id, site.threads, site.arrived});
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
  Value* out = builder.CreateLoad(builder.getInt32Ty(), field(builder, site.gang, offsetof(abi::Gang, reduction_out)));
  return reduction == abi::BarrierReduction::count ? out : builder.CreateIsNotNull(out);
}

bool is_cluster_barrier(Mark mark) {
  return mark == Mark::cluster_arrive || mark == Mark::cluster_arrive_unaligned || mark == Mark::cluster_wait ||
         mark == Mark::cluster_wait_unaligned;
}

void pass_cluster_barrier(IRBuilder<>& builder, Mark mark, Value* gang) {
  if (mark == Mark::cluster_wait || mark == Mark::cluster_wait_unaligned)
    return suspend(builder, gang, abi::Suspend::cluster_barrier);
  Module* module = builder.GetInsertBlock()->getModule();
  const FunctionCallee arrive =
      module->getOrInsertFunction("softgpu_rt_cluster_arrive", builder.getVoidTy(), builder.getPtrTy());
  builder.CreateCall(arrive, {gang});
}

void wait_for_warp(IRBuilder<>& builder, Value* gang, Value* mask) {
  put(builder, gang, offsetof(abi::Gang, warp_mask), mask);
  suspend(builder, gang, abi::Suspend::warp_barrier);
}

void yield(IRBuilder<>& builder, Value* gang) { suspend(builder, gang, abi::Suspend::yield); }

void report_divergent_barrier(IRBuilder<>& builder, const CallInst& barrier) {
  std::uint64_t line = 0;
  if (const MDNode* node = barrier.getMetadata("softgpu.line"))
    if (const auto* constant = mdconst::dyn_extract<ConstantInt>(node->getOperand(0))) line = constant->getZExtValue();
  Module* module = builder.GetInsertBlock()->getModule();
  const FunctionCallee report =
      module->getOrInsertFunction("softgpu_rt_divergent_barrier", builder.getVoidTy(), builder.getInt32Ty());
  CallInst* call = builder.CreateCall(report, {builder.getInt32(static_cast<std::uint32_t>(line))});
  call->setDoesNotReturn();
}

}  // namespace softgpu::simt
