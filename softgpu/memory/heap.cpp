#include "softgpu/memory/heap.hpp"

namespace softgpu::memory {

void Heap::charge(std::size_t bytes) {
  if (bytes > capacity_) throw OutOfMemory();
  const std::size_t counted = round_up(bytes, kPageBytes);
  const std::size_t before = used_.fetch_add(counted, std::memory_order_relaxed);
  if (before <= capacity_ && counted <= capacity_ - before) return;
  used_.fetch_sub(counted, std::memory_order_relaxed);
  throw OutOfMemory();
}

void Heap::refund(std::size_t bytes) { used_.fetch_sub(round_up(bytes, kPageBytes), std::memory_order_relaxed); }

std::byte* Heap::allocate(std::size_t bytes) {
  charge(bytes);
  try {
    return space_.map(bytes);
  } catch (...) {
    refund(bytes);
    throw;
  }
}

void Heap::release(std::byte* base, std::size_t bytes) {
  space_.unmap(base, bytes);
  refund(bytes);
}

}  // namespace softgpu::memory
