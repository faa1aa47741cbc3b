#include "softgpu/exec/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace softgpu::exec {

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                std::optional<std::chrono::nanoseconds> limit) {
  timespec time = {};
  if (limit) {
    time.tv_sec = static_cast<time_t>(limit->count() / 1'000'000'000);
    time.tv_nsec = static_cast<long>(limit->count() % 1'000'000'000);
  }
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, limit ? &time : nullptr, nullptr, 0);
}

void futex_wake(const std::atomic<std::uint32_t>& word, int threads) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
}

}  // namespace softgpu::exec
