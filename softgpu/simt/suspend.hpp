// Suspend points: what a gang tells the scheduler before it waits, and the marker that entry.cpp turns into a
// coroutine's suspension.
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "softgpu/abi/marks.hpp"

namespace softgpu::simt {

inline constexpr const char* kSuspendMarker = "softgpu.suspend";

struct BarrierSite {
  llvm::Value* gang;             // abi::Gang*
  llvm::Value *id, *threads;     // the barrier's number, and how many threads it is for (0: the block)
  llvm::Value* arrived;          // threads of this gang that are here
  llvm::Value* true_predicates;  // for reductions: how many of them have a true predicate
};

// Emits the arrival and, but for barrier_arrive, the wait. Gives the reduction's result, or null.
llvm::Value* wait_at_barrier(llvm::IRBuilder<>&, const llvm::CallInst& barrier, const BarrierSite&);

// The barrier of the cluster, where arriving and waiting are apart.
bool is_cluster_barrier(abi::Mark);
void pass_cluster_barrier(llvm::IRBuilder<>&, const llvm::CallInst& barrier, llvm::Value* gang);

// An operation on the warp by a gang of one thread: waits for the other members. Gives the result, or null.
llvm::Value* wait_for_warp(llvm::IRBuilder<>&, const llvm::CallInst& operation, llvm::Value* gang);

// Lets the other gangs run.
void yield(llvm::IRBuilder<>&, llvm::Value* gang);
void sleep(llvm::IRBuilder<>&, llvm::Value* gang, llvm::Value* nanoseconds);

// Whether a thread has left a loop in which it waited, so that the gang did not spin in vain.
void note_getting_on(llvm::IRBuilder<>&, llvm::Value* gang, llvm::Value* is_so);

// Ends the kernel: a barrier was reached by some threads of a warp only.
void report_divergent_barrier(llvm::IRBuilder<>&, const llvm::CallInst& barrier);

}  // namespace softgpu::simt
