#include "softgpu/simt/thread_gang.hpp"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "softgpu/simt/marks.hpp"
#include "softgpu/simt/shuffle.hpp"
#include "softgpu/simt/suspend.hpp"
#include "softgpu/simt/thread_values.hpp"

namespace softgpu::simt {

using namespace llvm;
using abi::Mark;
using abi::MarkKind;

Value* wait_alone(CallInst& call, Value* gang) {
  const Mark mark = *mark_of(&call);
  IRBuilder<> builder(&call);
  switch (abi::info(mark).kind) {
    case MarkKind::block: {
      if (is_cluster_barrier(mark)) {
        pass_cluster_barrier(builder, call, gang);
        return nullptr;
      }
      Value* predicate =
          call.arg_size() == 3 ? builder.CreateZExt(call.getArgOperand(2), builder.getInt32Ty()) : nullptr;
      return wait_at_barrier(builder, call,
                             {gang, call.getArgOperand(0), call.getArgOperand(1), builder.getInt32(1), predicate});
    }
    case MarkKind::warp: return wait_for_warp(builder, call, gang);
    default:
      if (mark == Mark::nanosleep)
        sleep(builder, gang, call.getArgOperand(0));
      else
        yield(builder, gang);
      return nullptr;
  }
}

namespace {

Value* replacement(CallInst& call, Mark mark, ThreadValues& values, Value* gang) {
  if (abi::info(mark).waiting != abi::MarkWaiting::nobody) return wait_alone(call, gang);
  IRBuilder<> builder(&call);
  if (mark == Mark::spun) {
    note_getting_on(builder, gang, builder.getTrue());
    return nullptr;
  }
  if (abi::info(mark).kind == MarkKind::query) return values.base(mark);
  if (abi::info(mark).kind == MarkKind::clock) return read_clock(builder, mark);
  return shuffle_source(builder, mark, values.base(Mark::laneid), call.getArgOperand(1), call.getArgOperand(2)).inside;
}

}  // namespace

void make_thread_gang(Function& thread, Function& gang) {
  ValueToValueMapTy mapped;
  SmallVector<ReturnInst*, 4> returns;
  CloneFunctionInto(&gang, &thread, mapped, CloneFunctionChangeType::LocalChangesOnly, returns);
  gang.setVisibility(GlobalValue::DefaultVisibility);
  gang.setDSOLocal(true);  // cloning has copied both from the kernel, which is exported
  // Query values are made in a block of their own in front, which dominates all.
  BasicBlock* body = &gang.getEntryBlock();
  BasicBlock* entry = BasicBlock::Create(gang.getContext(), "gang", &gang, body);
  IRBuilder<> entry_builder(BranchInst::Create(body, entry));
  for (Instruction& instruction : make_early_inc_range(*body))
    if (isa<AllocaInst>(instruction)) instruction.moveBefore(*entry, entry->begin());
  ThreadValues values(entry_builder, GangArguments::of(gang), abi::BlockShape::rows, 1);
  SmallVector<std::pair<CallInst*, Mark>, 16> calls;
  for (Instruction& instruction : instructions(gang))
    if (const auto mark = mark_of(&instruction); mark && abi::info(*mark).kind != MarkKind::note)
      calls.push_back({cast<CallInst>(&instruction), *mark});
  for (const auto& [call, mark] : calls) {
    if (Value* value = replacement(*call, mark, values, GangArguments::of(gang).gang)) call->replaceAllUsesWith(value);
    call->eraseFromParent();
  }
}

}  // namespace softgpu::simt
