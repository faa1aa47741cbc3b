// A grid in flight: which blocks are still to be started, which are set aside, how many have not ended.
//
// Where threads can wait for each other the blocks of a cluster run together, and the "blocks" that are counted and
// handed out here are clusters (of one block, most often).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "softgpu/exec/cluster_run.hpp"
#include "softgpu/exec/task.hpp"

namespace softgpu::exec {

using Clock = std::chrono::steady_clock;

// When to look again at a grid whose blocks all spin. Spinning threads get the processor in slices; between slices it
// sleeps, the longer the more time has passed without progress, but never so long that a loop that only looks like
// spinning (one that takes work items from an atomic counter, say) would crawl.
class Backoff {
 public:
  bool resting(Clock::time_point now) const { return now < resume_at_; }
  Clock::time_point resume_at() const { return resume_at_; }
  // A block of the grid is resumed. A slice is one of running: how late whoever slept has woken up is no part of it.
  void resume(Clock::time_point now);
  void progress(Clock::time_point now);
  // `wake`: when a thread of the block that was run wakes up, if one sleeps. No rest is longer.
  void no_progress(Clock::time_point now, std::optional<Clock::time_point> wake = {});

 private:
  Clock::time_point last_progress_{}, slice_start_{}, resume_at_{};
  Clock::time_point next_wake_{};  // of the grid's threads that sleep; may be past
  bool has_rested_ = false;        // since a block was last resumed
};

struct BlockRange {
  std::uint64_t first = 0, count = 0;
};

struct GridRun : Task {
  GridRun(GridLaunch, std::uint64_t id);

  bool suspends() const { return launch.code.start_gang != nullptr; }
  bool is_cancelled() const { return launch.cancel && launch.cancel->load(std::memory_order_relaxed); }
  bool has_failed() const { return outcome.load(std::memory_order_relaxed) != Outcome::completed; }
  bool has_fresh_blocks() const { return next.load(std::memory_order_relaxed) < total; }
  std::uint64_t blocks_left() const;
  std::uint64_t threads_per_unit() const;

  // Some blocks that nobody has started; count 0 when there are none. As many as last about the time of a chunk, but
  // leaving enough for `threads` to end at about the same time; one for kernels with suspend points.
  BlockRange take(std::size_t threads);
  // How long the last take() lasted.
  void note_duration(BlockRange, Clock::duration);
  // Says how the grid ends, unless that is settled, and takes all blocks that nobody has started. Returns how many.
  std::uint64_t stop(Outcome, const std::string& reason = {});
  // Of the block with this number, or the first one of the cluster.
  abi::Dim3 index_of(std::uint64_t number) const;

  GridLaunch launch;
  const std::uint64_t id;
  const abi::Dim3 unit;       // what runs together, in blocks
  const std::uint64_t total;  // how many of it; up to 2^63
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::uint64_t> unfinished;
  std::atomic<Outcome> outcome{Outcome::completed};
  std::string reason;                   // of the outcome, in words; for the thread that ends the grid
  std::atomic<std::uint64_t> chunk{1};  // how many blocks to take at once

  // Kernels with suspend points; under the scheduler's lock.
  std::list<std::unique_ptr<ClusterRun>> set_aside;
  std::atomic<std::size_t> set_aside_count{0};  // its size, to be read without the lock
  Backoff backoff;
  bool fresh_turn = true;  // next: start a block rather than resume one
};

}  // namespace softgpu::exec
