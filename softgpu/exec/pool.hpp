// The threads that run grids and small jobs, and the host threads that help them while they wait.
//
//   Pool& pool = *new Pool({.workers = config.workers});   // leaked on purpose: see ~Pool
//   pool.submit({.code = code, .grid = grid, .block = block, .params = params, .queue = stream, .on_done = done});
//   pool.wait_until([&] { return stream->idle(); }, stream);
//
// Order is the caller's business: everything submitted may run at once. A stream submits its next grid
// or job when the one before it has called on_done or returned.
//
// All functions may be called from any thread, from on_done and from jobs too (but not wait_until there).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>

#include "softgpu/exec/grid.hpp"
#include "softgpu/usage/page.hpp"

namespace softgpu::exec {

struct PoolOptions {
  unsigned workers = 0;          // threads that run blocks at the same time; 0: one per core this process may use
  usage::Page* usage = nullptr;  // where to note which seats run kernels, and for how long; null: nowhere
};

// A copy, a set, a host-side step of a stream: short, never blocks, never throws.
struct Job {
  std::function<void()> run;
  int priority = 0;             // as GridLaunch's
  const void* queue = nullptr;  // as GridLaunch's
};

class Pool {
 public:
  // Threads are started with the first work, not here.
  explicit Pool(PoolOptions = {});

  // Cancels what has not finished and joins the workers. A kernel without suspend points can't be interrupted, so
  // a pool that lives as long as the process is better leaked: exit() then never waits for a kernel.
  ~Pool();

  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  unsigned workers() const;

  // Starts a grid and returns at once. A grid of one block wakes nobody when a worker is about to look anyway: a
  // caller that waits next runs it itself, one that does not sees it started within some 50 µs.
  void submit(GridLaunch);
  void post(Job);

  // Blocks the calling host thread until `done()` holds; until then runs the pool's work on it.
  // `done` is called on this thread only, without locks held, and often: it must be cheap and must not block. It is
  // looked at again after every on_done and every job of the pool; who makes it true otherwise calls notify().
  // Helps only with work whose queue is `queue` (null: all work), so that a thread that waits for one stream never
  // gets stuck in the long block of another; between blocks it looks at `done` and returns.
  template <typename Predicate>
  void wait_until(Predicate&& done, const void* queue = nullptr) {
    if (!done())
      help_until([](void* p) { return static_cast<bool>((*static_cast<std::remove_reference_t<Predicate>*>(p))()); },
                 const_cast<void*>(static_cast<const void*>(std::addressof(done))), queue);
  }

  // Makes every thread in wait_until look at its predicate again.
  void notify();

 private:
  void help_until(bool (*done)(void*), void* context, const void* queue);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace softgpu::exec
