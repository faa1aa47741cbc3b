// Sleeping on a 32-bit word, which may be in memory that processes share. std::atomic::wait has no time limit, a
// condition variable costs a lock on the way out.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace softgpu::exec {

enum class FutexScope : std::uint8_t { process, machine };  // who may wake or be woken

// Returns when `word` is woken, when it does not hold `expected`, after `limit`, or for no reason.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                std::optional<std::chrono::nanoseconds> limit = std::nullopt, FutexScope scope = FutexScope::process);
void futex_wake(const std::atomic<std::uint32_t>& word, int threads, FutexScope scope = FutexScope::process);

}  // namespace softgpu::exec
