// Sleeping on a 32-bit word. std::atomic::wait has no time limit, a condition variable costs a lock on the way out.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace softgpu::exec {

// Returns when `word` is woken, when it does not hold `expected`, after `limit`, or for no reason.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                std::optional<std::chrono::nanoseconds> limit = std::nullopt);
void futex_wake(const std::atomic<std::uint32_t>& word, int threads);

}  // namespace softgpu::exec
