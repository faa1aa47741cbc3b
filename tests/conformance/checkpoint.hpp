// A child process that is checkpointed, and what the tests ask of it.
#pragma once

#include <poll.h>

#include <string>
#include <vector>

#include "conformance/child.hpp"

namespace conformance {

enum class Ask : char {
  free_memory,  // calls cuMemGetInfo; answers with the bytes (std::size_t), 0 when that fails
  allocate,     // allocates device memory and frees it; answers with whether that worked (bool)
  check,   // whether all of its memory is as it should be (bool), by kernels, streams, events and graphs made before
  hold,    // starts a kernel that runs until `let_go`; answers with true
  let_go,  // answers with true, and calls nothing
  wait,    // waits for its stream; answers with true
  share,   // makes a handle of its memory for other processes; answers with true
  uuid,    // answers with the UUID of its context's device (CUuuid)
  leave,   // ends
};

inline CUprocessState state_of(int pid) {
  CUprocessState state = CU_PROCESS_STATE_FAILED;
  EXPECT_SUCCESS(CU(cuCheckpointProcessGetState)(pid, &state));
  return state;
}

inline CUresult lock(int pid, unsigned timeout_ms = 20'000) {
  CUcheckpointLockArgs arguments{};
  arguments.timeoutMs = timeout_ms;
  return CU(cuCheckpointProcessLock)(pid, &arguments);
}
inline CUresult checkpoint(int pid) { return CU(cuCheckpointProcessCheckpoint)(pid, nullptr); }
inline CUresult restore(int pid) { return CU(cuCheckpointProcessRestore)(pid, nullptr); }
inline CUresult unlock(int pid) { return CU(cuCheckpointProcessUnlock)(pid, nullptr); }

// Running, with memory of all kinds.
class Target {
 public:
  explicit Target(const std::vector<std::string>& settings = {})
      : child_("CheckpointTarget.DISABLED_Serves", settings) {
    child_.channel().await();
  }

  int pid() const { return child_.id(); }
  Child& child() { return child_; }
  void ask(Ask what) { child_.channel().send(what); }
  template <typename T = bool>
  T answer() {
    return child_.channel().receive<T>();
  }
  template <typename T = bool>
  T get(Ask what) {
    ask(what);
    return answer<T>();
  }
  // Its exit status.
  int leave() {
    ask(Ask::leave);
    return child_.wait();
  }
  // Of the host's memory, in bytes.
  std::size_t resident() const;

 private:
  Child child_;
};

}  // namespace conformance
