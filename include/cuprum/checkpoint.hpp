// Checkpoints: taking the devices from a process that runs, and giving them back, with everything as it was.
//
//   checkpoint::Process process(pid);      // another process of this user, or this one
//   process.lock(std::chrono::seconds(5)); // its work is done, and its calls of CUDA wait
//   process.checkpoint();                  // its device memory is free for others
//   process.restore();
//   process.unlock();                      // it goes on and has noticed nothing
#pragma once

#include <chrono>
#include <cstddef>
#include <cuprum/detail/export.hpp>
#include <cuprum/uuid.hpp>
#include <functional>
#include <iosfwd>
#include <map>

namespace cuprum::inline CUPRUM_ABI::checkpoint {

/// What a process is, as a user of devices.
enum class ProcessState {
  running,       ///< as every process is at first
  locked,        ///< none of its work runs, and its calls of CUDA wait until it is unlocked
  checkpointed,  ///< locked, and what was in its device memory is with the host: it has none
  failed         ///< what was in its device memory could not be saved or brought back, and is lost
};

/// Prints "running" and so on.
CUPRUM_API std::ostream& operator<<(std::ostream& out, ProcessState state);

/// A process that uses CUDA, by its number. A plain value: it holds nothing, and the process may end meanwhile; then
/// everything throws DriverError. So it does when there is no such process, when it belongs to another user, when it
/// has not initialised CUDA, and when it is in another state than needed. Threads may share it.
///
/// Drivers have this from CUDA 12.8 on; with older ones everything throws NotSupported.
class CUPRUM_API Process {
 public:
  /// Asks nothing of the process yet. Throws InvalidArgument unless the number is positive.
  explicit Process(int pid);

  /// Its number.
  int pid() const noexcept { return pid_; }

  /// Its state at this moment.
  ProcessState state() const;
  /// The number of the thread in it that checkpoints and restores it, and that must be able to run for that, when all
  /// else of the process is stopped.
  int restore_thread_id() const;

  /// From running to locked: holds back its further calls of CUDA and waits for those under way and for its work on
  /// devices. Throws DriverError with CUDA_ERROR_NOT_READY when that takes longer than `timeout`, and the process runs
  /// on; 0 waits for as long as it takes. Throws InvalidArgument for a negative timeout and for more than 49 days.
  ///
  /// It stays locked until somebody unlocks it, also when the one who locked it has ended.
  void lock(std::chrono::milliseconds timeout = std::chrono::milliseconds(0)) const;

  /// From locked to checkpointed: its device memory is free, and its contents are with the host.
  void checkpoint() const;

  /// From checkpointed to locked: brings the contents back, to the same addresses.
  /// `gpu_mapping` says for each device that the process has on which it goes on; none: where it was. Such a device
  /// must be of the same kind and have memory enough. Throws DriverError when not all devices are named; the process is
  /// still checkpointed then.
  void restore(const std::map<Uuid, Uuid>& gpu_mapping = {}) const;

  /// From locked to running: the calls that were held back go on.
  void unlock() const;

  /// Equal when they name the same process.
  friend bool operator==(const Process&, const Process&) = default;

 private:
  int pid_;
};

/// Prints as "<Process 4711>"; asks nothing of the process.
CUPRUM_API std::ostream& operator<<(std::ostream& out, const Process& process);

}  // namespace cuprum::inline CUPRUM_ABI::checkpoint

/// So that processes can be keys of unordered containers.
template <>
struct std::hash<cuprum::checkpoint::Process> {
  /// By the process's number.
  std::size_t operator()(const cuprum::checkpoint::Process& process) const noexcept {
    return std::hash<int>()(process.pid());
  }
};
