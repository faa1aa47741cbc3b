// The one driver of the process: chosen and opened at first use, unusable after a fork.
#include <pthread.h>

#include <cuprum/driver.hpp>
#include <mutex>
#include <optional>

#include "driver/open.hpp"
#include "driver/usable.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI::driver {
namespace detail {

std::atomic<const Api*> installed_api{nullptr};

}  // namespace detail

namespace {

using detail::installed_api;

struct Process {
  std::mutex mutex;
  std::optional<Choice> selected = {};    // by select(), over the environment
  std::optional<OpenDriver> driver = {};  // set once
};

// Never destroyed: handles in static variables are released after our own destructors would have run. There before
// anything runs, so that no fork finds it half made.
union Lasting {
  constexpr Lasting() : process() {}
  ~Lasting() {}
  Process process;
};
constinit Lasting lasting;

constinit std::atomic<int> inside{0};  ///< threads that have the lock, or wait for it
constinit std::atomic<bool> forked_after_use{false};

/// The state, for one thread at a time.
class Locked {
 public:
  Locked() {
    ++inside;
    lasting.process.mutex.lock();
  }
  ~Locked() {
    lasting.process.mutex.unlock();
    --inside;
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

  Process* operator->() const { return &lasting.process; }
};

// Runs in the child of a fork, where only async-signal-safe work is allowed. Emptying the table sends every later call
// to load_api(), so calls pay nothing for this. When another thread was at the driver, its lock stays locked in the
// child and the driver is half open: that counts as use, and load_api() refuses before it comes to the lock.
void note_fork() {
  if (installed_api.exchange(nullptr) || inside > 0) forked_after_use = true;
}

// As soon as the library is loaded: a fork may come while the first use is under way.
[[maybe_unused]] const int notes_forks = pthread_atfork(nullptr, nullptr, note_fork);

void refuse_after_fork() {
  if (forked_after_use) {
    throw NotSupported(
        "CUDA can't be used in this process: it was forked after its parent had initialised CUDA, or while it did. "
        "Fork before the first use of CUDA, or start the child as a new program (posix_spawn, exec)");
  }
}

}  // namespace

const Api& detail::load_api() {
  refuse_after_fork();
  const Locked state;
  if (const Api* table = installed_api.load()) return *table;
  state->driver = open_driver(state->selected ? *state->selected : choice_from_environment());
  installed_api.store(&state->driver->api, std::memory_order_release);
  return state->driver->api;
}

const Api* usable_api() noexcept { return installed_api.load(std::memory_order_acquire); }

const Api& replace_api(const Api& table) {
  const Api& before = api();
  installed_api.store(&table, std::memory_order_release);
  return before;
}

Info info() {
  api();
  return Locked()->driver->info;
}

Choice choice() {
  const Locked state;
  if (state->driver) return state->driver->info.kind;
  return state->selected ? *state->selected : choice_from_environment();
}

void select(Choice choice) {
  refuse_after_fork();
  const Locked state;
  if (state->driver) {
    throw InvalidArgument(support::text("the driver can't be chosen any more: ", state->driver->info.path,
                                        " is in use. Call select() before anything that needs a device"));
  }
  state->selected = choice;
}

}  // namespace cuprum::inline CUPRUM_ABI::driver
