// malloc() and free() of device code: a part of the device's memory, between inaccessible pages, with all bookkeeping
// elsewhere, so that a kernel that runs off an allocation's end can harm other allocations at most.
//
// Small allocations are slots of equal size in slabs; a large one has pages of its own and ends at an inaccessible one.
// Several shards with a lock each keep threads out of each other's way.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "softgpu/memory/free_ranges.hpp"
#include "softgpu/memory/heap.hpp"

namespace softgpu::memory {

// Thread-safe.
class KernelHeap final : private Contents {
 public:
  // For `limit` bytes, which count as the device's from the first allocation on.
  KernelHeap(std::shared_ptr<Heap> device, std::size_t limit);
  ~KernelHeap();
  KernelHeap(const KernelHeap&) = delete;
  KernelHeap& operator=(const KernelHeap&) = delete;

  // 16-byte aligned; null for zero bytes, beyond the limit, and when the device has no room for the heap.
  void* allocate(std::size_t bytes) noexcept;
  // False when `memory` is not from allocate() or has been released. Null is released as often as one likes.
  bool release(void* memory) noexcept;

 private:
  static constexpr std::size_t kShards = 8, kClasses = 48;
  struct Span;
  struct Shard {
    std::mutex mutex;
    std::array<Span*, kClasses> with_room{};  // slabs, by the size of their slots
  };

  bool provide();
  void visit(ContentVisitor& visitor) const override;
  void* allocate_slot(std::size_t bytes);
  void* allocate_pages(std::size_t bytes);
  bool release_slot(Span&, const std::byte* memory, std::size_t& bytes);
  bool release_pages(Span&, const std::byte* memory, std::size_t& bytes);
  Span* take_chunks(std::size_t count);
  void give_chunks(Span&);
  std::byte* start_of(const Span&) const;

  const std::shared_ptr<Heap> device_;
  const std::size_t limit_;
  const std::size_t reserved_;  // addresses, more than memory: allocations leave gaps
  std::atomic<std::size_t> used_{0};
  std::atomic<std::byte*> base_{nullptr};
  std::array<Shard, kShards> shards_;

  mutable std::mutex chunks_mutex_;
  FreeRanges free_chunks_;
  std::size_t spans_in_use_ = 0;
  std::unique_ptr<std::atomic<Span*>[]> spans_;   // by first chunk
  std::vector<std::unique_ptr<Span>> all_spans_;  // none is deleted before the heap is
  std::vector<Span*> spare_spans_;
};

}  // namespace softgpu::memory
