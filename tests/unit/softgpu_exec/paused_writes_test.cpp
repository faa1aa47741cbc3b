#include "softgpu/exec/paused_writes.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <thread>

#include "unit/softgpu_exec/launch.hpp"

namespace softgpu::exec {
namespace {

constexpr std::size_t kBytes = 16 * 4096;

std::byte* new_pages(void* at) {
  const int fixed = at != nullptr ? MAP_FIXED : 0;
  return static_cast<std::byte*>(mmap(at, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0));
}

// What the pages do while they are replaced is the point; ThreadSanitizer would call it a race with mmap.
__attribute__((no_sanitize("thread"))) void write_to_all(volatile std::byte* memory, const std::atomic<bool>& stop) {
  for (std::size_t i = 0; !stop; i = (i + 997) % kBytes) memory[i] = std::byte{1};
}

TEST(PausedWrites, ThreadsWriteToTheNewPages) {
  std::byte* memory = new_pages(nullptr);
  for (int round = 0; round < 200; ++round) {
    std::atomic<bool> stop = false;
    std::thread writer([&] { write_to_all(memory, stop); });
    {
      const PausedWrites paused(memory, kBytes);
      new_pages(memory);
    }
    stop = true;
    writer.join();
  }
  munmap(memory, kBytes);
}

// An access that is bad for another reason is still found, pauses or not.
TEST(PausedWrites, DontHideFaults) {
  std::byte* memory = new_pages(nullptr);
  Pool pool({.workers = 2});
  for (int round = 0; round < 20; ++round) {
    {
      const PausedWrites paused(memory, kBytes);
      new_pages(memory);
    }
    EXPECT_EQ(run(pool, launch_of(plain([](const abi::Block*) { write_to(4096); }), {1}, {1})),
              Outcome::illegal_address);
  }
  munmap(memory, kBytes);
}

}  // namespace
}  // namespace softgpu::exec
