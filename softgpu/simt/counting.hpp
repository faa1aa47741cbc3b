// Loops that count with atomic operations, as work queues do.
#pragma once

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Instructions.h"

namespace softgpu::simt {

// Whether the value is another one in later iterations by what the loop itself does without memory: an index, say.
bool changes_by_itself(const llvm::Value& value, const llvm::Loop& loop);

// Whether a thread that repeats the operation, one of those that add, gets to the end of the loop without the help of
// others: it counts for certain, nothing in the loop takes that back, and of all that decides about the end
// (`deciding`) what looks at the count asks whether it is beyond a limit that it will get to. Where the count has gone
// through memory that is asked of what decides if each object has pointers of its own (`deciding_by_objects`).
bool counts_to_an_end(const llvm::AtomicRMWInst& rmw, const llvm::Loop& loop,
                      const llvm::SmallPtrSetImpl<const llvm::Instruction*>& deciding,
                      const llvm::SmallPtrSetImpl<const llvm::Instruction*>& deciding_by_objects);

}  // namespace softgpu::simt
