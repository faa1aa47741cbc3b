// One block in flight: for kernels with suspend points the scheduler of its gangs.
//
// A BlockRun belongs to a ClusterRun (cluster_run.hpp), which says when it runs. It keeps its memory from block to
// block.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "softgpu/abi/kernel.hpp"
#include "softgpu/exec/barrier.hpp"
#include "softgpu/exec/block_memory.hpp"
#include "softgpu/exec/grid.hpp"
#include "softgpu/exec/warp.hpp"

namespace softgpu::exec {

class BlockRun {
 public:
  using Clock = std::chrono::steady_clock;

  // Fills in everything of block() but its index.
  void prepare(const GridLaunch&, std::uint64_t grid_id, std::uint32_t worker, std::byte* shared);
  abi::Block& block() { return block_; }

  // A kernel with suspend points: makes the gangs of the block whose index has been set. None has run yet.
  void start(const GridLaunch&, ClusterBarrier&);

  // Runs every gang that can run until it suspends, once. Inside run_guarded: a fault in a gang leaves this function
  // from anywhere. Says whether a gang ended, reached a barrier or has waited to good purpose.
  bool run_pass();
  bool can_run() const { return !next_.empty() || !sleeping_.empty(); }
  // When the first of the gangs that sleep wakes up, if any do.
  std::optional<Clock::time_point> first_wake() const;
  // The cluster's barrier has gone on to another phase.
  void pass_cluster_barrier();

  // How often a gang was run since start().
  std::uint64_t steps() const { return steps_; }
  // At which barriers its threads wait, for messages; empty when they wait at none.
  std::string describe_waits() const;

  // For the functions that generated code calls.
  FrameArena& frames() { return frames_; }
  LocalMemory& local() { return local_; }
  void arrive(const abi::Gang&, std::uint32_t barrier, std::uint32_t threads);
  void arrive_at_cluster(const abi::Gang&);

 private:
  struct GangRun {
    abi::Gang gang;
    void* frame = nullptr;
    bool started = false;
    std::uint64_t arrived_in = 0;  // phase of the cluster's barrier
  };
  bool run_ready_gangs();
  void run_gang(GangRun&);
  void settle(std::uint32_t index);
  void put_to_sleep(std::uint32_t index);
  void wake_sleepers();
  static bool has_ended(const GangRun&);
  static bool at_plain_barrier(const GangRun&);
  void wait_at_barrier(std::uint32_t index);
  void wait_at_cluster_barrier(std::uint32_t index);
  void wait_for_warp(std::uint32_t thread);
  void go_on_in_warp(std::uint32_t warp);
  void release_active();
  Barrier& barrier_numbered(const abi::Gang&, std::uint32_t id);
  void end_gang(const GangRun&);
  void release_if_complete(Barrier&);

  abi::Block block_;
  FrameArena frames_;
  LocalMemory local_;
  Barriers barriers_;
  ClusterBarrier* cluster_barrier_ = nullptr;
  std::vector<GangRun> gangs_;
  std::vector<std::uint32_t> ready_, next_;         // gangs to run in this pass and in the next one
  std::vector<std::uint32_t> waiting_for_cluster_;  // gangs
  struct Sleeper {
    std::uint32_t gang;
    Clock::time_point wake;
  };
  std::vector<Sleeper> sleeping_;
  std::vector<Warp> warps_;              // when gangs are single threads
  std::vector<std::uint32_t> released_;  // lanes, while a warp is asked
  Exits exits_;
  std::uint32_t live_gangs_ = 0;
  bool signalled_ = false;     // a gang has arrived at a barrier without waiting: only counting is right from then on
  std::uint32_t threads_ = 0;  // of the block

  const GridLaunch* launch_ = nullptr;
  bool pass_progress_ = false;
  std::uint64_t steps_ = 0;
};

}  // namespace softgpu::exec
