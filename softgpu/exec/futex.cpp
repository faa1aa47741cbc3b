#include "softgpu/exec/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace softgpu::exec {
namespace {

int operation(int plain, FutexScope scope) { return scope == FutexScope::process ? plain | FUTEX_PRIVATE_FLAG : plain; }

}  // namespace

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                std::optional<std::chrono::nanoseconds> limit, FutexScope scope) {
  timespec time = {};
  if (limit) {
    time.tv_sec = static_cast<time_t>(limit->count() / 1'000'000'000);
    time.tv_nsec = static_cast<long>(limit->count() % 1'000'000'000);
  }
  syscall(SYS_futex, &word, operation(FUTEX_WAIT, scope), expected, limit ? &time : nullptr, nullptr, 0);
}

void futex_wake(const std::atomic<std::uint32_t>& word, int threads, FutexScope scope) {
  syscall(SYS_futex, &word, operation(FUTEX_WAKE, scope), threads, nullptr, nullptr, 0);
}

}  // namespace softgpu::exec
