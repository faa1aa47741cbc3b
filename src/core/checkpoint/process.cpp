#include <bit>
#include <cuprum/checkpoint.hpp>
#include <cuprum/driver.hpp>
#include <cuprum/error.hpp>
#include <limits>
#include <ostream>
#include <vector>

#include "support/enumeration.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI::checkpoint {
namespace {

// Calls an entry point of which the first argument is the process; `verb` is for the text of the error.
template <auto Entry, typename... Arguments>
void call(const Process& process, const char* verb, Arguments... arguments) {
  driver::call<Entry>(driver::Doing{[&] { return support::text(verb, " process ", process.pid()); }}, process.pid(),
                      arguments...);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, ProcessState state) {
  return support::print_word(out, {"running", "locked", "checkpointed", "failed"}, state);
}

std::ostream& operator<<(std::ostream& out, const Process& process) {
  return out << "<Process " << process.pid() << ">";
}

Process::Process(int pid) : pid_(pid) {
  if (pid <= 0) throw InvalidArgument(support::text("the number of a process is positive, and not ", pid));
}

ProcessState Process::state() const {
  CUprocessState state{};
  call<&driver::Api::cuCheckpointProcessGetState>(*this, "reading the state of", &state);
  switch (state) {
    case CU_PROCESS_STATE_RUNNING: return ProcessState::running;
    case CU_PROCESS_STATE_LOCKED: return ProcessState::locked;
    case CU_PROCESS_STATE_CHECKPOINTED: return ProcessState::checkpointed;
    case CU_PROCESS_STATE_FAILED: return ProcessState::failed;
  }
  throw NotSupported(support::text("the driver says that process ", pid_, " is in state ", static_cast<int>(state),
                                   ", which this version of the library does not know"));
}

int Process::restore_thread_id() const {
  int thread = 0;
  call<&driver::Api::cuCheckpointProcessGetRestoreThreadId>(*this, "reading the restore thread of", &thread);
  return thread;
}

void Process::lock(std::chrono::milliseconds timeout) const {
  constexpr auto kMost = std::numeric_limits<unsigned>::max();
  if (timeout.count() < 0 || timeout.count() > kMost)
    throw InvalidArgument(
        support::text("a timeout is 0 (none) to ", kMost, " milliseconds, and not ", timeout.count()));
  CUcheckpointLockArgs arguments{};
  arguments.timeoutMs = static_cast<unsigned>(timeout.count());
  call<&driver::Api::cuCheckpointProcessLock>(*this, "locking", &arguments);
}

void Process::checkpoint() const {
  CUcheckpointCheckpointArgs arguments{};
  call<&driver::Api::cuCheckpointProcessCheckpoint>(*this, "checkpointing", &arguments);
}

void Process::restore(const std::map<Uuid, Uuid>& gpu_mapping) const {
  std::vector<CUcheckpointGpuPair> pairs;
  pairs.reserve(gpu_mapping.size());
  for (const auto& [from, to] : gpu_mapping) pairs.push_back({std::bit_cast<CUuuid>(from), std::bit_cast<CUuuid>(to)});
  CUcheckpointRestoreArgs arguments{};
  arguments.gpuPairs = pairs.empty() ? nullptr : pairs.data();
  arguments.gpuPairsCount = static_cast<unsigned>(pairs.size());
  call<&driver::Api::cuCheckpointProcessRestore>(*this, "restoring", &arguments);
}

void Process::unlock() const {
  CUcheckpointUnlockArgs arguments{};
  call<&driver::Api::cuCheckpointProcessUnlock>(*this, "unlocking", &arguments);
}

}  // namespace cuprum::inline CUPRUM_ABI::checkpoint
