// The states of this process as a user of devices, and the ways between them (cuCheckpointProcess*).
//
//   RUNNING --lock--> LOCKED --checkpoint--> CHECKPOINTED --restore--> LOCKED --unlock--> RUNNING
//
// A locked process has no call in the driver and no work on a device; calls wait at the gate. A checkpointed one has no
// device memory: what was in it is with the host. All else that the driver has (handles, addresses, streams, events,
// modules, graphs) is the process's own memory, and stays.
#pragma once

#include <cuda.h>

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "softgpu/memory/saved_contents.hpp"
#include "softgpu/usage/page.hpp"

namespace softgpu::runtime {

class ApiGate;
struct MemoryServices;

// All but state() are for one thread. They throw CUDA_ERROR_ILLEGAL_STATE where the way does not start from here, and
// leave the state as it is when they throw, unless that is FAILED.
class OwnProcess {
 public:
  using Progress = memory::SavedContents::Progress;

  OwnProcess(ApiGate& gate, MemoryServices& services) : gate_(gate), services_(services) {}
  OwnProcess(const OwnProcess&) = delete;
  OwnProcess& operator=(const OwnProcess&) = delete;

  CUprocessState state() const { return state_.load(); }

  // Locking takes its time: no new call gets in from begin_lock() on, and the process is locked when try_lock() finds
  // that all calls and all work have ended. abandon_lock() lets calls in again, also when it is locked already.
  void begin_lock();
  bool try_lock();
  void abandon_lock();

  // Throws CUDA_ERROR_NOT_SUPPORTED when other processes share memory with it, CUDA_ERROR_OUT_OF_MEMORY when the host
  // has no room.
  void checkpoint(const Progress& progress);
  // `pairs`: where each device goes; none: they stay. Throws CUDA_ERROR_INVALID_VALUE when they don't name every device
  // once, or two go to the same place or one to a place that is none; CUDA_ERROR_OUT_OF_MEMORY when a device is too
  // small.
  void restore(std::span<const CUcheckpointGpuPair> pairs, const Progress& progress);
  // Unlocking is two steps, too: calls go on with resume(), so that it can be said before that the process runs, which
  // may end in its next moment.
  void unlock();
  void resume();

 private:
  // What others see of a device, and don't while the process is checkpointed.
  struct Use {
    std::uint64_t memory_bytes;
    std::uint32_t contexts;
  };

  void require_state(CUprocessState wanted, const char* message) const;
  bool has_work() const;
  std::vector<int> units_after(std::span<const CUcheckpointGpuPair> pairs) const;
  void withdraw_use();
  void keep_times_of_units(const std::vector<int>& units);
  void fail();

  ApiGate& gate_;
  MemoryServices& services_;
  std::atomic<CUprocessState> state_{CU_PROCESS_STATE_RUNNING};
  std::unique_ptr<memory::SavedContents> saved_;
  std::vector<Use> use_;  // by device, while checkpointed
};

}  // namespace softgpu::runtime
