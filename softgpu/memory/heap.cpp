#include "softgpu/memory/heap.hpp"

namespace softgpu::memory {

void Heap::charge(std::size_t bytes) {
  const std::size_t capacity = this->capacity();
  if (bytes > capacity) throw OutOfMemory();
  const std::size_t counted = round_up(bytes, kPageBytes);
  const std::size_t before = used_.fetch_add(counted, std::memory_order_relaxed);
  if (before <= capacity && counted <= capacity - before) return;
  used_.fetch_sub(counted, std::memory_order_relaxed);
  throw OutOfMemory();
}

void Heap::refund(std::size_t bytes) { used_.fetch_sub(round_up(bytes, kPageBytes), std::memory_order_relaxed); }

std::byte* Heap::allocate(std::size_t bytes) {
  charge(bytes);
  std::byte* base = nullptr;
  try {
    base = space_.map(bytes);
    const std::scoped_lock lock(held_mutex_);
    blocks_.emplace(base, bytes);
    return base;
  } catch (...) {
    if (base != nullptr) space_.unmap(base, bytes);
    refund(bytes);
    throw;
  }
}

void Heap::release(std::byte* base, std::size_t bytes) {
  {
    const std::scoped_lock lock(held_mutex_);
    blocks_.erase(base);
  }
  space_.unmap(base, bytes);
  refund(bytes);
}

void Heap::add(const Contents& contents) {
  const std::scoped_lock lock(held_mutex_);
  contents_.insert(&contents);
}

void Heap::remove(const Contents& contents) {
  const std::scoped_lock lock(held_mutex_);
  contents_.erase(&contents);
}

void Heap::visit(ContentVisitor& visitor) const {
  const std::scoped_lock lock(held_mutex_);
  for (const auto& [base, bytes] : blocks_) visitor.pages(base, round_up(bytes, kPageBytes));
  for (const Contents* contents : contents_) contents->visit(visitor);
}

}  // namespace softgpu::memory
