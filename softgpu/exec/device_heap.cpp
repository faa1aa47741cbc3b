#include "softgpu/exec/device_heap.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace softgpu::exec {
namespace {

struct alignas(16) Header {
  std::size_t bytes;
  std::uint64_t mark;
};
constexpr std::uint64_t kAllocated = 0x73676865'61700001, kFreed = 0x73676865'61700000;

std::atomic<std::size_t> g_limit{8 * 1024 * 1024};
std::atomic<std::size_t> g_used{0};

}  // namespace

void set_device_heap_limit(std::size_t bytes) { g_limit = bytes; }
std::size_t device_heap_limit() { return g_limit; }

void* device_malloc(std::size_t bytes) noexcept {
  const std::size_t limit = g_limit.load(std::memory_order_relaxed);
  if (bytes == 0 || bytes > limit) return nullptr;
  if (g_used.fetch_add(bytes, std::memory_order_relaxed) + bytes <= limit) {
    if (void* memory = std::malloc(sizeof(Header) + bytes)) return new (memory) Header{bytes, kAllocated} + 1;
  }
  g_used.fetch_sub(bytes, std::memory_order_relaxed);
  return nullptr;
}

bool device_free(void* memory) noexcept {
  if (!memory) return true;
  Header* const header = static_cast<Header*>(memory) - 1;
  if (header->mark != kAllocated) return false;
  header->mark = kFreed;
  g_used.fetch_sub(header->bytes, std::memory_order_relaxed);
  std::free(header);
  return true;
}

}  // namespace softgpu::exec
