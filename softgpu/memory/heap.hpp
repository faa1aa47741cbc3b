// The memory of one place (a device, or the host): how much there is, and how much of it is handed out.
#pragma once

#include <atomic>
#include <cstddef>
#include <limits>
#include <map>
#include <mutex>
#include <set>

#include "softgpu/memory/address_space.hpp"
#include "softgpu/memory/contents.hpp"

namespace softgpu::memory {

// Thread-safe.
class Heap {
 public:
  static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

  // `counter`: where to keep the number of bytes in use, for others to look at; null: in here.
  Heap(AddressSpace& space, std::size_t capacity, std::size_t* counter = nullptr)
      : space_(space), capacity_(capacity), used_(counter != nullptr ? *counter : own_counter_) {}
  virtual ~Heap() = default;
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // Zeroed memory, counted in whole pages. Throws OutOfMemory.
  virtual std::byte* allocate(std::size_t bytes);
  virtual void release(std::byte* base, std::size_t bytes);

  // For memory that comes from elsewhere and is this place's all the same. charge() throws OutOfMemory.
  void charge(std::size_t bytes);
  void refund(std::size_t bytes);

  // Such memory is shown to visit(), from add() to remove(). It must not be freed in between.
  void add(const Contents& contents);
  void remove(const Contents& contents);
  // Shows all memory that is handed out, or what holds it. Nothing is handed out or given back meanwhile.
  void visit(ContentVisitor& visitor) const;

  std::size_t capacity() const { return capacity_.load(std::memory_order_relaxed); }
  // The place is another one of the same kind. What is handed out must fit.
  void set_capacity(std::size_t capacity) { capacity_.store(capacity, std::memory_order_relaxed); }
  std::size_t used() const { return used_.load(std::memory_order_relaxed); }
  AddressSpace& space() const { return space_; }

 private:
  AddressSpace& space_;
  std::atomic<std::size_t> capacity_;
  alignas(std::atomic_ref<std::size_t>::required_alignment) std::size_t own_counter_ = 0;
  const std::atomic_ref<std::size_t> used_;
  mutable std::mutex held_mutex_;
  std::map<std::byte*, std::size_t> blocks_;  // of allocate(), with their sizes
  std::set<const Contents*> contents_;
};

}  // namespace softgpu::memory
