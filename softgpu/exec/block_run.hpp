// One block in flight, and for kernels with suspend points the scheduler of its gangs.
//
// A BlockRun belongs to one thread at a time but to no thread in particular: between two calls of advance() it can
// go to another one. It keeps its memory from block to block.
#pragma once

#include <cstdint>
#include <vector>

#include "softgpu/abi/kernel.hpp"
#include "softgpu/exec/barrier.hpp"
#include "softgpu/exec/block_memory.hpp"
#include "softgpu/exec/grid.hpp"

namespace softgpu::exec {

class BlockRun {
 public:
  // Fills in everything of block() but its index.
  void prepare(const GridLaunch&, std::uint64_t grid_id, std::uint32_t worker);
  abi::Block& block() { return block_; }

  // A kernel with suspend points: makes the gangs of the block whose index has been set. None has run yet.
  void start();

  enum class Status : std::uint8_t {
    finished,
    yielding,  // nothing but spinning threads is left to run, or others are due: call advance() again later
    failed,
  };
  struct Advance {
    Status status;
    Outcome outcome;      // failed only
    bool progress;        // a gang ended or reached a barrier
    std::uint64_t steps;  // how often a gang was run
  };
  // Runs gangs, each until it suspends, round robin. `worker` may differ from call to call.
  Advance advance(const GridLaunch&, std::uint32_t worker);

  // For the functions that generated code calls.
  FrameArena& frames() { return frames_; }
  void arrive(const abi::Gang&, std::uint32_t barrier, std::uint32_t threads, std::uint32_t arrived);

 private:
  struct GangRun {
    abi::Gang gang;
    void* frame = nullptr;
    bool started = false;
  };
  void run_passes();
  bool run_ready_gangs();
  void run_gang(GangRun&);
  void settle(std::uint32_t index);
  static bool has_ended(const GangRun&);
  static bool at_plain_barrier(const GangRun&);
  void wait_at_barrier(std::uint32_t index);
  void end_gang();
  void release_if_complete(Barrier&);
  bool complete(const Barrier&) const;
  std::uint32_t threads_counted(const abi::Gang&) const;
  void report_deadlock() const;

  abi::Block block_;
  SharedMemory shared_;
  FrameArena frames_;
  Barriers barriers_;
  std::vector<GangRun> gangs_;
  std::vector<std::uint32_t> ready_, next_;  // gangs to run in this pass and in the next one
  std::uint32_t live_gangs_ = 0;
  bool signalled_ = false;     // a gang has arrived at a barrier without waiting: only counting is right from then on
  std::uint32_t threads_ = 0;  // of the block

  const GridLaunch* launch_ = nullptr;
  bool progress_ = false, pass_progress_ = false;
  std::uint64_t steps_ = 0;
};

}  // namespace softgpu::exec
