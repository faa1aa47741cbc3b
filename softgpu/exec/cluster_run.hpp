// The blocks that run together: those of a cluster, or one block where the grid has no clusters.
//
// One thread runs all of them, in turn, so that nobody else touches their shared memories meanwhile. A ClusterRun
// belongs to no thread in particular: between two calls of advance() it can go to another one. It keeps its memory from
// cluster to cluster.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "softgpu/exec/block_memory.hpp"
#include "softgpu/exec/block_run.hpp"

namespace softgpu::exec {

class ClusterRun {
 public:
  ClusterRun();  // throws std::bad_alloc

  // A kernel without suspend points, whose blocks need not run together: gives a block that has everything but its
  // index.
  abi::Block& prepare_block(const GridLaunch&, std::uint64_t grid_id, std::uint32_t worker);

  // For the calls that the code of one block, or of one gang up to its next suspend point, makes. Empty.
  LocalMemory& local() {
    local_.reset();
    return local_;
  }

  // A kernel with suspend points: makes the gangs of all blocks, of which `first` has the lowest index. None has run
  // yet. Throws std::bad_alloc.
  void start(const GridLaunch&, std::uint64_t grid_id, std::uint32_t worker, abi::Dim3 first);

  enum class Status : std::uint8_t {
    finished,
    yielding,  // nothing but spinning and sleeping threads is left to run, or others are due: call advance() again
               // later
    failed,
  };
  struct Advance {
    Status status;
    Outcome outcome;      // failed only
    std::string reason;   // and why, in words
    bool progress;        // a gang ended, reached a barrier or has waited to good purpose
    std::uint64_t steps;  // how often a gang was run
    std::optional<std::chrono::steady_clock::time_point> wake;  // when the first of the gangs that sleep wakes up
  };
  // Runs gangs, each until it suspends, round robin. `worker` may differ from call to call.
  Advance advance(const GridLaunch&, std::uint32_t worker);

 private:
  void run_passes();
  bool run_pass();
  bool can_run() const;
  std::uint64_t steps() const;
  std::optional<std::chrono::steady_clock::time_point> first_wake() const;
  std::string describe_deadlock(const GridLaunch&) const;

  SharedMemory shared_;
  LocalMemory local_;
  std::vector<std::unique_ptr<BlockRun>> blocks_;  // more than are in use, maybe
  std::uint32_t in_use_ = 0;
  ClusterBarrier barrier_;
  bool progress_ = false;
};

}  // namespace softgpu::exec
