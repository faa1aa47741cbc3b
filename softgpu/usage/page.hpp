// What a process tells others about its use of softgpu's devices: one page of counters, which it writes as it goes and
// others read. It is a file, mapped by its writer (publication.hpp), read by whoever looks (running.hpp).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace softgpu::usage {

inline constexpr unsigned kMaxDevices = 64;  // as many as SOFTGPU_DEVICES allows
inline constexpr unsigned kMaxSeats = 1024;  // as many as SOFTGPU_WORKERS allows

// Counters of one device. Times are nanoseconds of the system's monotonic clock, which all processes share.
struct alignas(64) DeviceCounters {
  std::uint64_t memory_bytes;  // handed out
  std::uint64_t busy_ns;       // of all seats together, in kernels that have left them
  std::uint64_t copy_ns;       // in copies and fills of its memory
  std::uint32_t contexts;      // that there are
};

// A place in the pool of threads, and what runs there at this moment.
struct SeatNote {
  std::uint64_t since_ns;  // 0: nothing
  std::uint32_t device;
};

struct Page {
  static constexpr std::array<char, 8> kMagic = {'s', 'o', 'f', 't', 'g', 'p', 'u', '3'};

  std::array<char, 8> magic;  // written last
  std::uint32_t pid;
  std::uint32_t seats;
  std::uint64_t start_time;  // of the process, as the kernel counts it: tells it from a later one of the same number
  // Where the program's stack begins: tells it from one that the process has become since, by exec(). 0: not known.
  std::uint64_t stack_start;
  std::uint64_t pid_namespace;  // in which that is its number
  std::uint32_t devices;
  // Which of the machine's devices the process's n-th one is: the n-th, unless it was restored on others. What
  // running() gives out is sorted by this already.
  std::array<std::uint8_t, kMaxDevices> unit;
  std::array<DeviceCounters, kMaxDevices> device;
  std::array<SeatNote, kMaxSeats> seat;
};
static_assert(std::is_trivially_copyable_v<Page>);

// Counters are plain numbers in the file; whoever writes them while others look goes through this.
template <typename T>
std::atomic_ref<T> shared(T& value) {
  return std::atomic_ref<T>(value);
}

// That clock, now.
std::uint64_t now_ns();

}  // namespace softgpu::usage
