// What a thread does with the work it has picked.
#include <algorithm>
#include <string>
#include <utility>

#include "softgpu/exec/fault.hpp"
#include "softgpu/exec/fault_report.hpp"
#include "softgpu/exec/scheduler.hpp"

namespace softgpu::exec {
namespace {

// A spinning gang is back at once; one that took longer has done something useful.
constexpr std::chrono::nanoseconds kSpinStep{500};
constexpr std::size_t kSpareClusters = 64;

std::string no_memory(const GridRun& grid) {
  return "kernel " + grid.launch.kernel_name +
         ": no memory for another block: raise the limit on address space (ulimit -v)";
}

struct PlainRun {
  const GridRun& grid;
  BlockRange range;
  abi::Block& block;
};

// Inside run_guarded.
void run_range(void* context) {
  PlainRun& run = *static_cast<PlainRun*>(context);
  const GridLaunch& launch = run.grid.launch;
  abi::Dim3& index = run.block.index;
  index = run.grid.index_of(run.range.first);
  for (std::uint64_t left = run.range.count;;) {
    clear_shared(launch, run.block);
    launch.code.run_block(&run.block);
    if (--left == 0 || run.grid.is_cancelled()) return;
    if (++index.x < launch.grid.x) continue;
    index.x = 0;
    if (++index.y < launch.grid.y) continue;
    index.y = 0;
    ++index.z;
  }
}

struct OneBlock {
  const GridLaunch& launch;
  abi::Block& block;
};

// Inside run_guarded.
void run_one_block(void* context) {
  OneBlock& run = *static_cast<OneBlock*>(context);
  clear_shared(run.launch, run.block);
  run.launch.code.run_block(&run.block);
}

}  // namespace

void Scheduler::run(Work& work, const Runner& runner) {
  if (work.job) {
    if (!stopped()) work.job->job.run();
    work.job.reset();
    hooks_.progress();
    return;
  }
  keep_fault_handlers();
  GridRun& grid = *work.grid;
  std::uint64_t ended = work.dropped;
  if (ended == 0) {
    if (!work.resumed && !provide_cluster(*work.seat))
      ended = work.fresh.count + drop_blocks(grid, Outcome::misuse, no_memory(grid));
    else if (grid.suspends())
      ended = run_gangs(grid, work, runner);
    else
      ended = run_plain_blocks(grid, work.fresh, *work.seat, runner);
  }
  // With nothing to report the thread holds no block, and the grid may be gone.
  if (ended > 0) report_ended(grid, ended);
}

bool Scheduler::should_leave(const GridRun& grid, const Runner& runner) const {
  return best_priority_.load(std::memory_order_relaxed) < grid.priority || runner.wants_to_leave();
}

std::uint64_t Scheduler::run_plain_blocks(GridRun& grid, BlockRange range, Seat& seat, const Runner& runner) {
  abi::Block& block = seat.cluster->prepare_block(grid.launch, grid.id, seat.number);
  Running running{.launch = &grid.launch, .block = &block, .local = &seat.cluster->local()};
  std::uint64_t ended = 0;
  Clock::time_point before = grid.total > 1 ? Clock::now() : Clock::time_point{};
  while (range.count > 0) {
    PlainRun run{grid, range, block};
    const Outcome outcome = run_guarded(running, run_range, &run);
    ended += range.count;
    if (outcome != Outcome::completed) return ended + drop_blocks(grid, outcome, describe_fault(running, outcome));
    if (ends_early(grid)) return ended + drop_blocks(grid, Outcome::cancelled);
    if (grid.launch.then) return ended + run_following(grid, seat);
    if (!grid.has_fresh_blocks() || should_leave(grid, runner)) break;

    const Clock::time_point now = Clock::now();
    grid.note_duration(range, now - before);
    before = now;
    range = grid.take(seats_of(grid));
  }
  return ended;
}

// Returns how many blocks of the first grid were dropped, which is none: it has run.
std::uint64_t Scheduler::run_following(GridRun& grid, Seat& seat) {
  std::uint64_t id = grid.id;
  for (const GridLaunch& launch : *grid.launch.then) {
    abi::Block& block = seat.cluster->prepare_block(launch, ++id, seat.number);
    Running running{.launch = &launch, .block = &block, .local = &seat.cluster->local()};
    block.index = {0, 0, 0};
    OneBlock run{launch, block};
    const Outcome outcome = run_guarded(running, run_one_block, &run);
    if (outcome != Outcome::completed) return drop_blocks(grid, outcome, describe_fault(running, outcome));
    if (ends_early(grid)) return drop_blocks(grid, Outcome::cancelled);
  }
  return 0;
}

std::uint64_t Scheduler::run_gangs(GridRun& grid, Work& work, const Runner& runner) {
  Seat& seat = *work.seat;
  std::unique_ptr<ClusterRun> cluster = std::move(work.resumed);
  std::uint64_t ended = 0;
  for (BlockRange range = work.fresh; cluster || range.count > 0; range = grid.take(seats_of(grid))) {
    if (!cluster) {
      if (!start_cluster(grid, range.first, seat))
        return ended + 1 + drop_blocks(grid, Outcome::misuse, no_memory(grid));
      cluster = std::move(seat.cluster);
    }
    const Clock::time_point before = Clock::now();
    const ClusterRun::Advance advance = cluster->advance(grid.launch, seat.number);
    if (advance.status == ClusterRun::Status::yielding) {
      const bool spun = (Clock::now() - before) <= kSpinStep * advance.steps;
      const bool worked = advance.progress || (advance.steps > 0 && !spun);
      set_aside(grid, std::move(cluster), worked, advance.wake);
      return ended;
    }
    ++ended;
    if (!seat.cluster) {
      seat.cluster = std::move(cluster);
    } else {
      const Lock lock(mutex_);
      keep_for_reuse(std::move(cluster));
    }
    if (advance.status == ClusterRun::Status::failed) return ended + drop_blocks(grid, advance.outcome, advance.reason);
    if (ends_early(grid)) return ended + drop_blocks(grid, Outcome::cancelled);
    if (grid.set_aside_count.load(std::memory_order_relaxed) > 0) {
      // Those that were set aside may have been waiting for this one, and it is their turn.
      note_progress(grid);
      break;
    }
    if (should_leave(grid, runner)) break;
  }
  return ended;
}

void Scheduler::set_aside(GridRun& grid, std::unique_ptr<ClusterRun> cluster, bool progress,
                          std::optional<Clock::time_point> wake) {
  const Lock lock(mutex_);
  progress ? grid.backoff.progress(Clock::now()) : grid.backoff.no_progress(Clock::now(), wake);
  grid.set_aside.push_back(std::move(cluster));
  grid.set_aside_count.store(grid.set_aside.size(), std::memory_order_relaxed);
  // To the end of its class, so that other grids get their turn.
  tasks_.remove(grid);
  tasks_.add(grid);
}

void Scheduler::note_progress(GridRun& grid) {
  const Lock lock(mutex_);
  grid.backoff.progress(Clock::now());
}

bool Scheduler::provide_cluster(Seat& seat) {
  if (seat.cluster) return true;
  {
    const Lock lock(mutex_);
    if (!spare_clusters_.empty()) {
      seat.cluster = std::move(spare_clusters_.back());
      spare_clusters_.pop_back();
      return true;
    }
  }
  try {
    seat.cluster = std::make_unique<ClusterRun>();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool Scheduler::start_cluster(GridRun& grid, std::uint64_t number, Seat& seat) {
  try {
    seat.cluster->start(grid.launch, grid.id, seat.number, grid.index_of(number));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void Scheduler::keep_for_reuse(std::unique_ptr<ClusterRun> cluster) {
  if (spare_clusters_.size() < kSpareClusters) spare_clusters_.push_back(std::move(cluster));
}

}  // namespace softgpu::exec
