#include "softgpu/exec/paused_writes.hpp"

#include <sched.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <mutex>

#include "softgpu/exec/fault.hpp"

namespace softgpu::exec {
namespace {

std::mutex one_at_a_time;
std::atomic<std::uintptr_t> paused_begin{0}, paused_end{0};
std::atomic<std::uint64_t> pauses{0};

// The pause may be over before the handler of a fault that it caused comes to look. So each thread may try once more
// after each pause; an access that is bad for another reason then fails again.
[[gnu::tls_model("initial-exec")]] thread_local std::uint64_t pauses_seen = 0;

bool paused(std::uintptr_t address) { return address >= paused_begin.load() && address < paused_end.load(); }

}  // namespace

PausedWrites::PausedWrites(std::byte* base, std::size_t bytes) {
  install_fault_handlers();
  one_at_a_time.lock();
  pauses.fetch_add(1);
  paused_begin.store(reinterpret_cast<std::uintptr_t>(base));
  paused_end.store(reinterpret_cast<std::uintptr_t>(base) + bytes);
  mprotect(base, bytes, PROT_READ);
}

PausedWrites::~PausedWrites() {
  paused_end.store(0);
  one_at_a_time.unlock();
}

bool wait_for_paused_writes(const void* address) noexcept {
  const auto where = reinterpret_cast<std::uintptr_t>(address);
  const std::uint64_t count = pauses.load();
  const bool retry = paused(where) || count != pauses_seen;
  while (paused(where)) sched_yield();
  pauses_seen = count;
  return retry;
}

}  // namespace softgpu::exec
