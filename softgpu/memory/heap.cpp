#include "softgpu/memory/heap.hpp"

namespace softgpu::memory {

std::byte* Heap::allocate(std::size_t bytes) {
  if (bytes > capacity_) throw OutOfMemory();
  const std::size_t counted = round_up(bytes, kPageBytes);
  const std::size_t before = used_.fetch_add(counted, std::memory_order_relaxed);
  try {
    if (before > capacity_ || counted > capacity_ - before) throw OutOfMemory();
    return space_.map(bytes);
  } catch (...) {
    used_.fetch_sub(counted, std::memory_order_relaxed);
    throw;
  }
}

void Heap::release(std::byte* base, std::size_t bytes) {
  space_.unmap(base, bytes);
  used_.fetch_sub(round_up(bytes, kPageBytes), std::memory_order_relaxed);
}

}  // namespace softgpu::memory
