// The program's signals are for the program's threads: those that softgpu starts block all but what kernels can raise,
// which can't be blocked.
#pragma once

#include <signal.h>

#include <thread>
#include <utility>

namespace softgpu::exec {

// Threads that are started while it lives inherit its mask.
class BlockedHostSignals {
 public:
  BlockedHostSignals() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (int raised_by_kernels : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&blocked, raised_by_kernels);
    pthread_sigmask(SIG_SETMASK, &blocked, &previous_);
  }
  ~BlockedHostSignals() { pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }
  BlockedHostSignals(const BlockedHostSignals&) = delete;
  BlockedHostSignals& operator=(const BlockedHostSignals&) = delete;

 private:
  sigset_t previous_;
};

// A thread that nobody waits for. Throws std::system_error.
template <typename Body>
void start_thread(Body&& body) {
  const BlockedHostSignals blocked;
  std::thread(std::forward<Body>(body)).detach();
}

}  // namespace softgpu::exec
