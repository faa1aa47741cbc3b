// Running a grid of blocks. Knows nothing of streams or contexts: those are runtime/'s.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "softgpu/exec/kernel_code.hpp"

namespace softgpu::exec {

class DeviceGraphs;
class DeviceHeap;
class MemoryAccess;
class SeatSet;

// How a grid ended.
enum class Outcome : std::uint8_t {
  completed,
  illegal_address,      // CUDA_ERROR_ILLEGAL_ADDRESS
  misaligned_address,   // CUDA_ERROR_MISALIGNED_ADDRESS
  illegal_instruction,  // CUDA_ERROR_ILLEGAL_INSTRUCTION
  trap,                 // trap instruction: CUDA_ERROR_LAUNCH_FAILED
  assertion,            // CUDA_ERROR_ASSERT
  misuse,               // what else a kernel must not do, or there is no memory for: CUDA_ERROR_LAUNCH_FAILED
  barrier_deadlock,     // all threads wait, none can go on: CUDA_ERROR_LAUNCH_FAILED
  cancelled,            // the context was torn down
};

struct GridLaunch {
  KernelCode code;
  abi::Dim3 grid, block;
  abi::Dim3 cluster;              // of blocks; the grid's extents are multiples of it
  bool explicit_cluster = false;  // %is_explicit_cluster
  std::vector<std::byte> params;  // owned copy
  std::uint32_t static_shared_bytes = 0, dynamic_shared_bytes = 0, shared_alignment = 1;
  std::uint32_t zeroed_shared_bytes = 0;          // of the static ones: the first so many are zero when a block begins
  std::string kernel_name;                        // for messages
  int priority = 0;                               // lower runs first, as CUDA's
  std::uint32_t device = 0;                       // whose time it takes: see PoolOptions::usage
  bool cooperative = false;                       // all blocks in flight at once
  std::unique_ptr<abi::GridWorkspace> workspace;  // a cooperative grid's
  DeviceHeap* heap = nullptr;                     // of malloc() and free(); null: there is no room
  std::shared_ptr<DeviceGraphs> graphs;        // that the grid is a part of; null: none that it could launch others in
  std::shared_ptr<const MemoryAccess> access;  // what code that asks is told; null: it may use all memory
  const void* queue = nullptr;                 // the stream, for threads that wait for one: see Pool::wait_until
  std::shared_ptr<const SeatSet> seats;        // the only ones that it runs on; null: all. At least one exists
  // Grids of one block each, without suspend points, that run after this one, which is of that kind, too, and on the
  // same thread. They have neither a queue nor a function of their own: on_done is called after the last, or the one
  // that failed. Null: none.
  std::shared_ptr<const std::vector<GridLaunch>> then;
  // Once it reads true, no block is started or resumed any more and the grid ends as `cancelled`.
  // Null: can't be cancelled.
  std::shared_ptr<const std::atomic<bool>> cancel;
  // Called once, on the thread that finished the last block. Must not block. The reason, in words, is empty if there is
  // nothing to say.
  std::function<void(Outcome, std::string_view reason)> on_done;
};

// For each block of the grid, before it begins.
inline void clear_shared(const GridLaunch& launch, const abi::Block& block) {
  if (launch.zeroed_shared_bytes != 0) std::memset(block.shared, 0, launch.zeroed_shared_bytes);
}

}  // namespace softgpu::exec
