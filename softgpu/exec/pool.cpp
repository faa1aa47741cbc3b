// The pool's threads: how they start, sleep and end; and host threads that help.
#include "softgpu/exec/pool.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include <cstdio>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "softgpu/exec/futex.hpp"
#include "softgpu/exec/host_signals.hpp"
#include "softgpu/exec/scheduler.hpp"

#if defined(__x86_64__)
  #include <immintrin.h>
#endif

namespace softgpu::exec {
namespace {

// For device functions that call themselves: 32 lanes at CUDA's limit of 512 KiB each, and more than that again.
constexpr std::size_t kWorkerStackBytes = 64 * 1024 * 1024;
constexpr std::chrono::microseconds kWorkerSpin{5};
constexpr std::chrono::microseconds kHostSpin{20};
// The lookout goes on looking for about 10 ms after the last submission.
constexpr unsigned kQuietRounds = 200;

unsigned usable_cores() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&cores)));
}

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

// Waits, without giving the core away, until changed() or for `limit`. Useless, and so not done, on one core.
template <typename Changed>
bool spin(std::chrono::nanoseconds limit, Changed changed) {
  static const bool worthwhile = usable_cores() > 1;
  if (!worthwhile) return false;
  const Clock::time_point end = Clock::now() + limit;
  do {
    for (int i = 0; i < 16; ++i) {
      if (changed()) return true;
      pause();
    }
  } while (Clock::now() < end);
  return false;
}

}  // namespace

struct Pool::Impl {
  Impl(unsigned workers, usage::Page* usage)
      : worker_limit(workers),
        scheduler(workers, {.work_waits = [this] { wake_or_start_worker(); }, .progress = [this] { announce(); }},
                  usage) {}

  void wake_or_start_worker();
  void start_worker();
  void work();
  void sleep(std::uint64_t& activity_seen, unsigned& quiet_rounds);
  void announce();

  const unsigned worker_limit;
  Scheduler scheduler;
  std::atomic<std::uint64_t> next_grid_id{1};

  std::mutex threads_mutex;
  std::vector<pthread_t> threads;
  std::atomic<unsigned> started{0};

  std::atomic<std::uint32_t> work_calls{0};  // what sleeping workers sleep on
  std::atomic<std::uint32_t> progress{0};    // what waiting hosts sleep on
  std::atomic<std::uint32_t> waiting_hosts{0};
};

Pool::Pool(PoolOptions options)
    : impl_(std::make_unique<Impl>(options.workers != 0 ? options.workers : usable_cores(), options.usage)) {}

Pool::~Pool() {
  impl_->scheduler.stop();
  impl_->work_calls.fetch_add(1);
  futex_wake(impl_->work_calls, INT_MAX);
  {
    const std::lock_guard lock(impl_->threads_mutex);
    for (pthread_t thread : impl_->threads) pthread_join(thread, nullptr);
  }
  while (impl_->scheduler.run_one({})) {
  }
}

unsigned Pool::workers() const { return impl_->worker_limit; }

void Pool::submit(GridLaunch launch) {
  const std::uint64_t grids = launch.then ? 1 + launch.then->size() : 1;
  const std::uint64_t id = impl_->next_grid_id.fetch_add(grids, std::memory_order_relaxed);
  impl_->scheduler.add(std::make_unique<GridRun>(std::move(launch), id));
}

void Pool::post(Job job) { impl_->scheduler.add(std::make_unique<JobRun>(std::move(job))); }

void Pool::notify() { impl_->announce(); }

void Pool::help_until(bool (*done)(void*), void* context, const void* queue) {
  Impl& pool = *impl_;
  const Runner runner{.foreign = true, .queue = queue, .done = done, .context = context};
  for (;;) {
    const std::uint32_t seen = pool.progress.load();
    if (done(context)) return pool.scheduler.leave();
    if (pool.scheduler.run_one(runner)) continue;
    pool.scheduler.leave();
    // Others run what this thread waits for. With a seat free there is a core to spare.
    const auto changed = [&] { return pool.progress.load(std::memory_order_relaxed) != seen; };
    if (pool.scheduler.has_free_seat() && spin(kHostSpin, changed)) continue;
    pool.waiting_hosts.fetch_add(1);
    if (!done(context)) futex_wait(pool.progress, seen);
    pool.waiting_hosts.fetch_sub(1);
  }
}

void Pool::Impl::announce() {
  progress.fetch_add(1);
  if (waiting_hosts.load() != 0) futex_wake(progress, INT_MAX);
}

void Pool::Impl::wake_or_start_worker() {
  if (scheduler.sleepers() > 0) {
    work_calls.fetch_add(1);
    futex_wake(work_calls, 1);
  } else if (started.load(std::memory_order_relaxed) < worker_limit) {
    start_worker();
  }
}

void Pool::Impl::start_worker() {
  const std::lock_guard lock(threads_mutex);
  if (started.load() == worker_limit || scheduler.stopped()) return;

  const BlockedHostSignals blocked;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kWorkerStackBytes);
  pthread_t thread;
  const auto main = [](void* self) -> void* {
    static_cast<Impl*>(self)->work();
    return nullptr;
  };
  const int error = pthread_create(&thread, &attributes, main, this);
  pthread_attr_destroy(&attributes);

  if (error != 0) {
    if (threads.empty())
      throw std::system_error(error, std::generic_category(), "softgpu: can't start a worker thread");
    return;  // fewer than wished for will do
  }
  threads.push_back(thread);
  pthread_setname_np(thread, ("softgpu-" + std::to_string(started.load())).c_str());
  started.fetch_add(1);
}

void Pool::Impl::work() {
  prctl(PR_SET_TIMERSLACK, 1000UL);  // the lookout's rests are short
  std::uint64_t activity_seen = 0;
  unsigned quiet_rounds = 0;
  while (!scheduler.stopped())
    if (!scheduler.run_one({})) sleep(activity_seen, quiet_rounds);
}

void Pool::Impl::sleep(std::uint64_t& activity_seen, unsigned& quiet_rounds) {
  const std::uint32_t calls = work_calls.load();
  const std::uint64_t activity = scheduler.activity();
  quiet_rounds = activity == activity_seen ? quiet_rounds + 1 : 0;
  activity_seen = activity;

  const Scheduler::Sleep how = scheduler.go_to_sleep(quiet_rounds < kQuietRounds);
  if (how.look_again) return;
  const auto more = [&] {
    return scheduler.activity() != activity || work_calls.load(std::memory_order_relaxed) != calls;
  };
  const bool active = how.lookout && quiet_rounds == 0;
  if (!(active && spin(kWorkerSpin, more))) futex_wait(work_calls, calls, how.limit);
  scheduler.wake_up(how);
}

}  // namespace softgpu::exec
