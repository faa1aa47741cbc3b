// The one driver of the process: chosen and opened at first use, unusable after a fork.
#include <pthread.h>

#include <cuprum/driver.hpp>
#include <mutex>
#include <optional>

#include "driver/open.hpp"
#include "driver/usable.hpp"
#include "support/text.hpp"

namespace cuprum::driver {
namespace detail {

std::atomic<const Api*> installed_api{nullptr};

}  // namespace detail

namespace {

using detail::installed_api;

struct Process {
  std::mutex mutex;
  std::optional<Choice> selected;    // by select(), over the environment
  std::optional<OpenDriver> driver;  // set once
};

// Never destroyed: handles in static variables are released after our own destructors would have run.
Process& process() {
  static Process& process = *new Process;
  return process;
}

std::atomic<bool> forked_after_use{false};

// Runs in the child of a fork, where only async-signal-safe work is allowed. Emptying the table sends every later call
// to load_api(), so calls pay nothing for this.
void note_fork() {
  if (installed_api.exchange(nullptr)) forked_after_use = true;
}

void refuse_after_fork() {
  if (forked_after_use) {
    throw NotSupported(
        "CUDA can't be used in this process: it was forked after its parent had initialised CUDA. "
        "Fork before the first use of CUDA, or start the child as a new program (posix_spawn, exec)");
  }
}

}  // namespace

const Api& detail::load_api() {
  refuse_after_fork();
  std::lock_guard lock(process().mutex);
  if (const Api* table = installed_api.load()) return *table;
  Process& state = process();
  state.driver = open_driver(state.selected ? *state.selected : choice_from_environment());
  static const int registered = pthread_atfork(nullptr, nullptr, note_fork);
  (void)registered;
  installed_api.store(&state.driver->api, std::memory_order_release);
  return state.driver->api;
}

const Api* usable_api() noexcept { return installed_api.load(std::memory_order_acquire); }

const Api& replace_api(const Api& table) {
  const Api& before = api();
  installed_api.store(&table, std::memory_order_release);
  return before;
}

Info info() {
  api();
  std::lock_guard lock(process().mutex);
  return process().driver->info;
}

void select(Choice choice) {
  refuse_after_fork();
  std::lock_guard lock(process().mutex);
  if (process().driver) {
    throw InvalidArgument(support::text("the driver can't be chosen any more: ", process().driver->info.path,
                                        " is in use. Call select() before anything that needs a device"));
  }
  process().selected = choice;
}

}  // namespace cuprum::driver
