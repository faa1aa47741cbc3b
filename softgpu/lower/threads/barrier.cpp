// Barriers of the block, of the cluster and of the warp.
#include "softgpu/lower/threads/threads.hpp"

namespace softgpu::lower {
namespace {

using abi::Mark;
using llvm::Value;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Type;

// bar is aligned by definition, barrier where it says so.
bool is_aligned(const Instruction& i) { return i.opcode == ptx::Opcode::bar || i.has(Modifier::aligned); }

// d, a{, b}, {!}c
void reduce(FunctionLowering& f, const Instruction& i) {
  const bool has_count = i.operands.size() == 4;
  Value* threads = has_count ? f.read(i.operands[2], Type::u32) : f.ir.getInt32(0);
  struct Reduction {
    Mark aligned, unaligned;
  };
  const Reduction reduction =
      i.has(Modifier::popc)   ? Reduction{Mark::barrier_red_popc, Mark::barrier_red_popc_unaligned}
      : i.has(Modifier::and_) ? Reduction{Mark::barrier_red_and, Mark::barrier_red_and_unaligned}
                              : Reduction{Mark::barrier_red_or, Mark::barrier_red_or_unaligned};
  const Mark mark = is_aligned(i) ? reduction.aligned : reduction.unaligned;
  Value* predicate = f.read_predicate(i.operands.back());
  Value* result = f.call(mark, {f.read(i.operands[1], Type::u32), threads, predicate});
  f.write(i.operands[0], result, i.types[0]);
}

// What was written before an arrival is there behind the wait: the marked functions are opaque to LLVM, and one thread
// of the host runs the cluster.
void lower_cluster_barrier(FunctionLowering& f, const Instruction& i) {
  const bool aligned = i.has(Modifier::aligned);
  if (i.has(Modifier::arrive))
    f.call(aligned ? Mark::cluster_arrive : Mark::cluster_arrive_unaligned);
  else
    f.call(aligned ? Mark::cluster_wait : Mark::cluster_wait_unaligned);
}

}  // namespace

void lower_barrier(FunctionLowering& f, const Instruction& i) {
  if (i.has(Modifier::warp)) {
    f.call(Mark::warp_sync, {f.read(i.operands[0], Type::u32)});
    return;
  }
  if (i.has(Modifier::cluster)) return lower_cluster_barrier(f, i);
  if (i.has(Modifier::red)) return reduce(f, i);
  Value* threads = i.operands.size() > 1 ? f.read(i.operands[1], Type::u32) : f.ir.getInt32(0);
  const bool aligned = is_aligned(i);
  const Mark mark = i.has(Modifier::arrive) ? (aligned ? Mark::barrier_arrive : Mark::barrier_arrive_unaligned)
                    : aligned               ? Mark::barrier_sync
                                            : Mark::barrier_sync_unaligned;
  f.call(mark, {f.read(i.operands[0], Type::u32), threads});
}

}  // namespace softgpu::lower
