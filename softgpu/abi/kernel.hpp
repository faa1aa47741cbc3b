// What generated kernel code and the scheduler that runs it agree on.
//
// Generated code knows these structures by the offsets below; the static_asserts at the end are the
// contract. Nothing here may depend on LLVM or on the C++ standard library's classes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softgpu::abi {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
};

// How the threads of a block map to gangs of W lanes. The compiler makes one version of a kernel for
// each shape that is launched: the more it knows, the more stays scalar or becomes a plain vector access.
enum class BlockShape : std::uint8_t {
  rows,  // block.x is a multiple of W: tid.x goes up by one over the lanes, tid.y and tid.z are uniform, all gangs are
         // full
  line,  // block is one-dimensional with any x: as above, but the last gang may be partial
  general,  // anything else: tid.x, tid.y and tid.z vary over the lanes, the last gang may be partial
};

// What a Block's pointers are multiples of, at least.
inline constexpr std::uint32_t kParamsAlignment = 16;
inline constexpr std::uint32_t kSharedAlignment = 128;

// One block in flight. Filled by the scheduler before any of the block's code runs; read by generated code.
struct Block {
  const std::byte* params = nullptr;  // the kernel's parameters, laid out as the PTX declares them
  std::byte* shared = nullptr;        // static shared variables first, dynamic shared memory behind them
  Dim3 index;                         // %ctaid
  Dim3 grid;                          // %nctaid
  Dim3 size;                          // %ntid
  std::uint32_t shared_bytes = 0;     // static and dynamic
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t worker = 0;  // reported as %smid
  std::uint64_t grid_id = 0;
  std::uint64_t workspace = 0;  // address of the grid's GridWorkspace; 0 unless it is cooperative
  Dim3 cluster;                 // %cluster_nctaid; what else there is to know of clusters follows from it and index
  std::uint32_t explicit_cluster = 0;  // the launch or the kernel names the cluster's size
  std::uint32_t running = 0;  // the first thread of the gang that runs, for messages: the one field that code writes
};

// The shared memories of a cluster's blocks are this far apart, in the order of their ranks.
inline constexpr std::uint32_t kClusterStrideBits = 24;
inline constexpr std::uint32_t kMaxClusterBlocks = 16;

// What the blocks of a cooperative grid synchronise with. Its layout is known to CUDA's cooperative_groups.
struct GridWorkspace {
  std::uint32_t bytes = sizeof(GridWorkspace);
  std::uint32_t barrier = 0;
};

// Why a gang has returned to the scheduler before its end.
enum class Suspend : std::uint32_t {
  none,
  barrier,          // waits at barrier `barrier_id` until `barrier_threads` threads (0: the whole block) have arrived
  yield,            // spins: run the others first
  cluster_barrier,  // waits until all threads of the cluster have arrived
  warp,             // a gang of one thread: waits for the members of its warp that `warp` names
  sleep,            // for `nanoseconds`
};

enum class BarrierReduction : std::uint32_t { none, all, any, count };

// What a gang of one thread asks of the others of its warp.
struct WarpRequest {
  std::uint32_t operation = 0;  // a Mark of kind warp
  std::uint32_t members = 0;    // none for activemask
  std::uint64_t value = 0;      // what the thread brings: a value, or a predicate
  std::uint32_t b = 0, c = 0;   // of shuffles
};

// One gang in flight, for kernels that have suspend points.
struct Gang {
  const Block* block = nullptr;
  std::uint32_t first_thread = 0;  // linear index in the block of lane 0
  std::uint32_t lanes = 0;         // how many threads the gang holds, at most W
  // Written by generated code before it suspends:
  Suspend reason = Suspend::none;
  std::uint32_t barrier_id = 0;
  std::uint32_t barrier_threads = 0;
  std::uint32_t arrived = 0;  // threads of this gang that wait at the barrier
  BarrierReduction reduction = BarrierReduction::none;
  std::uint32_t reduction_in = 0;  // how many of the arrived threads have a true predicate
  std::uint32_t line = 0;          // of the PTX, where it waits; 0: not known
  std::uint32_t nanoseconds = 0;
  WarpRequest warp;
  // Written by the scheduler before it resumes the gang:
  std::uint32_t result = 0;  // of a barrier's reduction, or of the warp's operation
  // Generated code's own: %tid of lane 0.
  Dim3 thread{0, 0, 0};
  // Written by generated code, cleared by the scheduler: a thread has left a loop in which it waited.
  std::uint32_t got_on = 0;
  // The frame of the called function that runs or in which the gang waits; null, or the gang's own, outside of them.
  // Written by generated code when it enters or leaves a function in which threads wait.
  void* innermost = nullptr;
};

// A kernel without suspend points: runs all threads of the block.
using RunBlock = void (*)(const Block*);

// A kernel with suspend points: starts one gang and runs it up to its first suspend point. Returns
// null when the gang has ended, else its frame. The frame's first word is the function that resumes it
// (called with the frame); it reads null once the gang has ended. Frames come from `allocate_frame`.
using StartGang = void* (*)(Gang*);
using ResumeGang = void (*)(void* frame);

// Lets a gang that has not ended run up to its next suspend point or its end. Where it waits in a called function it
// goes on right there, however deep that is; when that one ends, its caller's frame goes on.
inline void resume_gang(Gang& gang, void* frame) {
  for (;;) {
    void* const innermost = gang.innermost ? gang.innermost : frame;
    const auto resume_function = [&] { return *static_cast<ResumeGang*>(innermost); };
    resume_function()(innermost);
    if (innermost == frame || resume_function()) return;
  }
}

static_assert(sizeof(Dim3) == 12);
static_assert(offsetof(Block, params) == 0 && offsetof(Block, shared) == 8);
static_assert(offsetof(Block, index) == 16 && offsetof(Block, grid) == 28 && offsetof(Block, size) == 40);
static_assert(offsetof(Block, shared_bytes) == 52 && offsetof(Block, dynamic_shared_bytes) == 56);
static_assert(offsetof(Block, worker) == 60 && offsetof(Block, grid_id) == 64);
static_assert(offsetof(Block, workspace) == 72 && offsetof(GridWorkspace, barrier) == 4);
static_assert(offsetof(Block, cluster) == 80 && offsetof(Block, explicit_cluster) == 92 &&
              offsetof(Block, running) == 96);
static_assert(offsetof(Gang, block) == 0 && offsetof(Gang, first_thread) == 8 && offsetof(Gang, lanes) == 12);
static_assert(offsetof(Gang, reason) == 16 && offsetof(Gang, barrier_id) == 20 &&
              offsetof(Gang, barrier_threads) == 24);
static_assert(offsetof(Gang, arrived) == 28 && offsetof(Gang, reduction) == 32 && offsetof(Gang, reduction_in) == 36);
static_assert(offsetof(Gang, line) == 40 && offsetof(Gang, nanoseconds) == 44 && offsetof(Gang, warp) == 48);
static_assert(offsetof(Gang, result) == 72 && offsetof(Gang, thread) == 76 && offsetof(Gang, got_on) == 88);
static_assert(offsetof(Gang, innermost) == 96);
static_assert(sizeof(WarpRequest) == 24 && offsetof(WarpRequest, value) == 8);

}  // namespace softgpu::abi
