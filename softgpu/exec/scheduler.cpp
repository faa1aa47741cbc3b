// Picking work, sleeping, ending. What happens to a piece of work once it is picked: run_blocks.cpp.
#include "softgpu/exec/scheduler.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "softgpu/exec/fault_report.hpp"
#include "softgpu/exec/seat_set.hpp"

namespace softgpu::exec {
namespace {

// Kernels that need more stack than this run on workers only.
constexpr std::uint64_t kForeignStackBytes = 64 * 1024;
// Threads of one grid in flight at once, unless it is cooperative: what the largest GPUs hold.
constexpr std::uint64_t kThreadsInFlight = 132 * 2048;
// Grids with fewer threads than this are not worth waking a worker for at once.
constexpr std::uint64_t kSmallGridThreads = 2048;
constexpr std::chrono::microseconds kLookoutRest{50};

// Set while a thread runs work: it will look for more by itself.
thread_local bool t_working = false;

bool is_small(const GridRun& grid) {
  return grid.total <= 1 || grid.total < kSmallGridThreads / std::max<std::uint64_t>(1, grid.threads_per_unit());
}

}  // namespace

Scheduler::Scheduler(unsigned seats, Hooks hooks, usage::Page* usage)
    : hooks_(std::move(hooks)), seats_(seats), busy_notes_(usage) {
  for (std::uint32_t i = seats; i-- > 0;) {
    seats_[i].number = i;
    free_seats_.push_back(&seats_[i]);
  }
}

Scheduler::~Scheduler() { assert(tasks_.empty()); }

void Scheduler::add(std::unique_ptr<GridRun> grid) {
  if (grid->total == 0) return finish(*grid.release());
  const bool eager = !is_small(*grid);
  add_task(*grid.release(), eager);
}

void Scheduler::add(std::unique_ptr<JobRun> job) { add_task(*job.release(), false); }

void Scheduler::add_task(Task& task, bool eager) {
  bool wake;
  {
    const Lock lock(mutex_);
    tasks_.add(task);
    best_priority_.store(tasks_.best_priority(), std::memory_order_relaxed);
    activity_.fetch_add(1, std::memory_order_relaxed);
    wake = (eager || !t_working) && worker_missing(eager);
  }
  if (wake) hooks_.work_waits();
}

void Scheduler::unlist(Task& task) {
  tasks_.remove(task);
  best_priority_.store(tasks_.best_priority(), std::memory_order_relaxed);
}

bool Scheduler::may_start_fresh(const GridRun& grid) const {
  if (!grid.has_fresh_blocks()) return false;
  return grid.launch.cooperative || grid.set_aside.size() * grid.threads_per_unit() < kThreadsInFlight;
}

Seat* Scheduler::free_seat_for(const GridRun& grid) const {
  if (free_seats_.empty()) return nullptr;
  if (grid.launch.seats == nullptr) return free_seats_.back();
  const auto found = std::find_if(free_seats_.rbegin(), free_seats_.rend(),
                                  [&](const Seat* seat) { return grid.launch.seats->contains(seat->number); });
  return found != free_seats_.rend() ? *found : nullptr;
}

std::size_t Scheduler::seats_of(const GridRun& grid) const {
  return grid.launch.seats != nullptr ? std::max<std::size_t>(1, grid.launch.seats->count()) : seats_.size();
}

bool Scheduler::can_run(const GridRun& grid, const Runner& runner) const {
  if (runner.foreign && grid.launch.code.stack_bytes > kForeignStackBytes) return false;
  if (ends_early(grid)) return grid.has_fresh_blocks() || !grid.set_aside.empty();
  if (free_seat_for(grid) == nullptr) return false;
  return may_start_fresh(grid) || (!grid.set_aside.empty() && !grid.backoff.resting(Clock::now()));
}

// The first task in order that this runner may run. Takes grids off the list that have nothing left to start.
Task* Scheduler::find(const Runner& runner) {
  for (Task* task = tasks_.first(); task;) {
    Task* const after = task->after;
    if (task->grid && !task->grid->suspends() && !task->grid->has_fresh_blocks())
      unlist(*task);
    else if ((!runner.queue || task->queue == runner.queue) && (!task->grid || can_run(*task->grid, runner)))
      return task;
    task = after;
  }
  return nullptr;
}

// There is something to run, or that will be due soon, and nobody is about to look.
bool Scheduler::work_waits() {
  if (tasks_.empty() || !worker_missing(false)) return false;
  if (find({})) return true;
  for (Task* task = tasks_.first(); task; task = task->after)
    if (task->grid && !task->grid->set_aside.empty() && free_seat_for(*task->grid)) return true;
  return false;
}

// False when other threads have been faster.
bool Scheduler::take_from(GridRun& grid, Work& work) {
  work.grid = &grid;
  if (ends_early(grid)) {
    work.dropped = drop_blocks_locked(grid, Outcome::cancelled);
    return work.dropped > 0;
  }
  const Clock::time_point now = Clock::now();
  work.begin = now;
  const bool can_resume = !grid.set_aside.empty() && !grid.backoff.resting(now);
  if (may_start_fresh(grid) && (grid.fresh_turn || !can_resume)) {
    grid.fresh_turn = false;
    work.fresh = grid.take(seats_of(grid));
    return work.fresh.count > 0;
  }
  grid.fresh_turn = true;
  if (!can_resume) return false;
  grid.backoff.resume(now);
  work.resumed = std::move(grid.set_aside.front());
  grid.set_aside.pop_front();
  grid.set_aside_count.store(grid.set_aside.size(), std::memory_order_relaxed);
  return true;
}

std::optional<Scheduler::Work> Scheduler::take(const Runner& runner) {
  bool wake = false;
  std::optional<Work> work;
  {
    const Lock lock(mutex_);
    if (free_seats_.empty()) return std::nullopt;
    while (!work) {
      Task* const task = find(runner);
      if (!task) return std::nullopt;
      work.emplace();
      if (task->grid) {
        if (!take_from(*task->grid, *work)) work.reset();
      } else {
        unlist(*task);
        work->job.reset(static_cast<JobRun*>(task));
      }
    }
    // Blocks that are only dropped need no seat of their own.
    Seat* const own = work->grid ? free_seat_for(*work->grid) : nullptr;
    work->seat = own != nullptr ? own : free_seats_.back();
    std::iter_swap(std::find(free_seats_.rbegin(), free_seats_.rend(), work->seat), free_seats_.rbegin());
    free_seats_.pop_back();
    if (work->grid) busy_notes_.begin(work->seat->number, work->grid->launch.device, work->begin);
    wake = work_waits();
  }
  if (wake) hooks_.work_waits();
  return work;
}

bool Scheduler::run_one(const Runner& runner) {
  std::optional<Work> work = take(runner);
  if (!work) return false;
  t_working = true;
  run(*work, runner);
  t_working = false;
  release(*work->seat, work->grid != nullptr);
  return true;
}

void Scheduler::release(Seat& seat, bool ran_grid) {
  const Clock::time_point now = ran_grid ? busy_notes_.now() : Clock::time_point();
  const Lock lock(mutex_);
  if (ran_grid) busy_notes_.end(seat.number, now);
  free_seats_.push_back(&seat);
}

void Scheduler::leave() {
  if (best_priority_.load(std::memory_order_relaxed) == INT_MAX) return;
  bool wake;
  {
    const Lock lock(mutex_);
    wake = work_waits();
  }
  if (wake) hooks_.work_waits();
}

std::uint64_t Scheduler::drop_blocks(GridRun& grid, Outcome why, const std::string& reason) {
  std::uint64_t dropped = 0;
  bool is_first = false;
  {
    const Lock lock(mutex_);
    is_first = !grid.has_failed();
    dropped = drop_blocks_locked(grid, why, reason);
  }
  if (is_first) print_reason(why, reason);
  return dropped;
}

// Settles how the grid ends and takes all its blocks that are not being run; the caller has to report them.
std::uint64_t Scheduler::drop_blocks_locked(GridRun& grid, Outcome why, const std::string& reason) {
  const std::uint64_t dropped = grid.stop(why, reason) + grid.set_aside.size();
  for (std::unique_ptr<ClusterRun>& cluster : grid.set_aside) keep_for_reuse(std::move(cluster));
  grid.set_aside.clear();
  grid.set_aside_count.store(0, std::memory_order_relaxed);
  return dropped;
}

// The last thing a thread does with a grid.
void Scheduler::report_ended(GridRun& grid, std::uint64_t blocks) {
  if (blocks > 0 && grid.unfinished.fetch_sub(blocks, std::memory_order_acq_rel) == blocks) finish(grid);
}

void Scheduler::finish(GridRun& grid) {
  {
    const Lock lock(mutex_);
    if (grid.listed) unlist(grid);
  }
  const std::unique_ptr<GridRun> owner(&grid);
  if (grid.launch.on_done) grid.launch.on_done(grid.outcome.load(std::memory_order_relaxed), grid.reason);
  hooks_.progress();
}

Scheduler::Sleep Scheduler::go_to_sleep(bool recently_active) {
  const Lock lock(mutex_);
  if (stopped() || (!free_seats_.empty() && find({}))) return {.look_again = true};
  Sleep sleep;
  // Without a free seat there is nothing to look out for: who leaves his seat wakes somebody.
  if (!lookout_ && !free_seats_.empty()) {
    if (recently_active) sleep.limit = kLookoutRest;
    const Clock::time_point now = Clock::now();
    for (Task* task = tasks_.first(); task; task = task->after)
      if (task->grid && !task->grid->set_aside.empty() && free_seat_for(*task->grid)) {
        const std::chrono::nanoseconds due = std::max(task->grid->backoff.resume_at() - now, Clock::duration(1));
        sleep.limit = std::min(sleep.limit.value_or(due), due);
      }
    sleep.lookout = lookout_ = sleep.limit.has_value();
  }
  sleepers_.fetch_add(1, std::memory_order_relaxed);
  return sleep;
}

void Scheduler::wake_up(const Sleep& sleep) {
  const Lock lock(mutex_);
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
  if (sleep.lookout) lookout_ = false;
}

bool Scheduler::has_free_seat() {
  const Lock lock(mutex_);
  return !free_seats_.empty();
}

}  // namespace softgpu::exec
