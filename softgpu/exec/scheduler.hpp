// Who runs what: the pool's tasks, the seats that limit how many threads run at once, and the rules by which a
// thread picks work, sets it aside and hands it on. Threads and their sleep are pool.cpp's.
//
// A grid needs no reference count: a thread touches it only while it holds blocks that it has not reported as ended,
// or under the lock while the grid is listed. Who reports the last one takes it off the list and deletes it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "softgpu/exec/busy_notes.hpp"
#include "softgpu/exec/grid_run.hpp"

namespace softgpu::exec {

// The right to run work: there are as many as the pool has workers, so that helping host threads replace
// workers instead of competing with them for cores.
struct Seat {
  std::uint32_t number = 0;             // %smid
  std::unique_ptr<ClusterRun> cluster;  // for the next blocks; empty when the last ones were set aside
};

// Who asks for work.
struct Runner {
  bool foreign = false;         // a host thread, of unknown stack size
  const void* queue = nullptr;  // only work of this queue; null: any
  bool (*done)(void*) = nullptr;
  void* context = nullptr;

  bool wants_to_leave() const { return done && done(context); }
};

class Scheduler {
 public:
  struct Hooks {
    std::function<void()> work_waits;  // there is something to do that nobody is about to look at
    std::function<void()> progress;    // an on_done or a job has returned
  };
  Scheduler(unsigned seats, Hooks, usage::Page* usage = nullptr);
  ~Scheduler();

  void add(std::unique_ptr<GridRun>);
  void add(std::unique_ptr<JobRun>);

  // Picks a piece of work, runs it and returns true; false when there was none for this runner.
  bool run_one(const Runner&);

  // A host thread no longer looks for work: somebody else has to, if there is any.
  void leave();

  // How a worker that found nothing sleeps. One of the sleepers is the lookout, who comes back by himself after a
  // short rest as long as the pool is in use, or when spinning blocks are due; while there is one, small work wakes
  // nobody, which saves the system call that would cost more than a small kernel.
  struct Sleep {
    bool look_again = false;  // there is work after all
    bool lookout = false;
    std::optional<std::chrono::nanoseconds> limit;
  };
  Sleep go_to_sleep(bool recently_active);
  void wake_up(const Sleep&);
  unsigned sleepers() const { return sleepers_.load(std::memory_order_relaxed); }

  // Counts what was added.
  std::uint64_t activity() const { return activity_.load(std::memory_order_relaxed); }
  bool has_free_seat();

  // From now on grids end as cancelled and jobs are dropped.
  void stop() { stopping_.store(true); }
  bool stopped() const { return stopping_.load(std::memory_order_relaxed); }

 private:
  struct Work {
    Seat* seat = nullptr;
    std::unique_ptr<JobRun> job;
    GridRun* grid = nullptr;              // which may be gone by the time that its last block has been run
    Clock::time_point begin;              // of a grid
    BlockRange fresh;                     // to be started,
    std::unique_ptr<ClusterRun> resumed;  // to be resumed,
    std::uint64_t dropped = 0;            // or only to be reported
  };
  using Lock = std::unique_lock<std::mutex>;

  void add_task(Task&, bool eager);
  std::optional<Work> take(const Runner&);
  bool take_from(GridRun&, Work&);
  Task* find(const Runner&);
  bool can_run(const GridRun&, const Runner&) const;
  bool may_start_fresh(const GridRun&) const;
  // A free seat that the grid may run on; null: there is none now.
  Seat* free_seat_for(const GridRun&) const;
  std::size_t seats_of(const GridRun&) const;
  bool ends_early(const GridRun& grid) const { return stopped() || grid.is_cancelled() || grid.has_failed(); }
  bool worker_missing(bool eager) const { return !free_seats_.empty() && (eager || !lookout_); }
  bool work_waits();
  void unlist(Task&);

  void run(Work&, const Runner&);
  std::uint64_t run_plain_blocks(GridRun&, BlockRange, Seat&, const Runner&);
  std::uint64_t run_following(GridRun&, Seat&);
  std::uint64_t run_gangs(GridRun&, Work&, const Runner&);
  bool should_leave(const GridRun&, const Runner&) const;
  void set_aside(GridRun&, std::unique_ptr<ClusterRun>, bool progress, std::optional<Clock::time_point> wake);
  void note_progress(GridRun&);
  std::uint64_t drop_blocks(GridRun&, Outcome, const std::string& reason = {});
  std::uint64_t drop_blocks_locked(GridRun&, Outcome, const std::string& reason = {});
  void report_ended(GridRun&, std::uint64_t blocks);
  void finish(GridRun&);
  void release(Seat&, bool ran_grid);
  bool provide_cluster(Seat&);
  bool start_cluster(GridRun&, std::uint64_t number, Seat&);
  void keep_for_reuse(std::unique_ptr<ClusterRun>);

  const Hooks hooks_;
  std::mutex mutex_;
  TaskList tasks_;
  std::vector<Seat> seats_;
  std::vector<Seat*> free_seats_;
  std::vector<std::unique_ptr<ClusterRun>> spare_clusters_;
  BusyNotes busy_notes_;
  bool lookout_ = false;
  std::atomic<unsigned> sleepers_{0};
  std::atomic<std::uint64_t> activity_{0};
  std::atomic<int> best_priority_{INT_MAX};  // of tasks_, to be read without the lock
  std::atomic<bool> stopping_{false};
};

}  // namespace softgpu::exec
