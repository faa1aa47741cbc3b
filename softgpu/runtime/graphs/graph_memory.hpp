// Memory that graphs allocate and free.
//
// The address of an allocation is fixed when its node is made, whenever and however often the graph is launched. Memory
// comes to it at the first launch (or upload) and stays with it, freed or not, until somebody asks for it back: so a
// graph that is launched again finds its memory there. When the executable graph has gone and the memory is freed, it
// stays reserved for other graphs, until somebody asks for that back.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "softgpu/memory/heap.hpp"
#include "softgpu/runtime/work/op.hpp"

namespace softgpu::runtime {

struct MemoryServices;
class Stream;

// One node's memory. Shared by the nodes that allocate and free it, and by their executable graphs.
class GraphAllocation final : private memory::Contents {
 public:
  GraphAllocation(MemoryServices& services, const CUmemPoolProps& properties, std::span<const CUmemAccessDesc> accesses,
                  std::size_t bytes);
  GraphAllocation(const GraphAllocation&) = delete;
  GraphAllocation& operator=(const GraphAllocation&) = delete;
  ~GraphAllocation();

  CUdeviceptr address() const;
  std::size_t bytes() const { return bytes_; }  // as asked for
  const CUmemPoolProps& properties() const { return properties_; }
  const std::vector<CUmemAccessDesc>& accesses() const { return accesses_; }

 private:
  friend class GraphMemory;
  bool is_in_use() const { return allocated_ || (last_use_ && !last_use_->done()); }
  void visit(memory::ContentVisitor& visitor) const override { visitor.pages(base_, reserved_bytes()); }
  std::size_t reserved_bytes() const { return memory::round_up(bytes_, memory::kPageBytes); }

  MemoryServices& services_;
  const CUmemPoolProps properties_;
  const std::vector<CUmemAccessDesc> accesses_;
  const std::size_t bytes_;
  const std::shared_ptr<memory::Heap> heap_;
  std::byte* const base_;
  // GraphMemory's, under its lock.
  bool instantiated_ = false;  // an executable graph has it
  bool resident_ = false;      // has memory
  bool allocated_ = false;     // by a launch, and not freed since
  bool freed_inside_ = false;  // by a node of the graph that allocates it
  OpRef last_use_;             // of the launch or free that was made last
};

// What is reserved counts as used, as it does on a GPU, until it is asked for back.
struct GraphMemoryUsage {
  std::uint64_t bytes = 0, used_high = 0, reserved_high = 0;
};

// Thread-safe.
class GraphMemory {
 public:
  explicit GraphMemory(MemoryServices& services) : services_(services) {}

  using Allocations = std::span<const std::shared_ptr<GraphAllocation>>;

  // An address for memory to be. Throws CUDA_ERROR_INVALID_VALUE for properties that graphs don't allow.
  std::shared_ptr<GraphAllocation> reserve(const CUmemPoolProps& properties, std::span<const CUmemAccessDesc> accesses,
                                           std::size_t bytes);
  // The allocation that starts there; null: it is not a graph's.
  std::shared_ptr<GraphAllocation> find(CUdeviceptr address) const;
  // For a node that frees it: `inside` the graph that allocates it. Throws when there is such a node already.
  void add_free(GraphAllocation& allocation, bool inside);

  // An address can be in one executable graph at a time: throws CUDA_ERROR_INVALID_VALUE.
  void add_instance(Allocations allocations);
  void remove_instance(Allocations allocations);
  // Sees to it that they have memory.
  void make_resident(Allocations allocations);
  // A launch allocates and frees; throws CUDA_ERROR_INVALID_VALUE when what it allocates has not been freed since the
  // last launch (unless that is done now), or what it frees is not allocated.
  enum class Unfreed { refused, freed };
  void launch(Allocations allocates, Allocations frees, Unfreed unfreed);
  // That launch goes on until then.
  void set_last_use(Allocations allocations, const OpRef& end);

  // Frees a graph's allocation in the order of the stream, or at once for a null one. False: it is not a graph's.
  // Throws CUDA_ERROR_INVALID_VALUE when it is not allocated.
  bool free(CUdeviceptr address, Stream* stream);

  GraphMemoryUsage usage(int device) const;
  void reset_used_high(int device);
  void reset_reserved_high(int device);
  // Takes the memory of allocations that are not in use, and what is reserved.
  void trim(int device);
  void trim_all();

 private:
  using Kept = std::vector<std::shared_ptr<GraphAllocation>>;
  // Memory of a heap that waits for another graph of that device. It is counted only: it has no pages.
  struct Reserve {
    const std::shared_ptr<memory::Heap> heap;
    std::size_t bytes = 0;
  };

  void charge(const std::shared_ptr<GraphAllocation>& allocation);
  Reserve& reserve_for(const GraphAllocation& allocation);
  // Takes the memory of allocations that nobody can launch any more. What these return is to go without the lock.
  Kept take_abandoned();
  template <typename Condition>
  Kept take_if(Condition condition);

  MemoryServices& services_;
  mutable std::mutex mutex_;
  std::map<CUdeviceptr, std::weak_ptr<GraphAllocation>> allocations_;
  Kept resident_;
  std::size_t abandoned_ = 0;                     // how many of them are in no executable graph
  std::map<int, GraphMemoryUsage> usage_;         // by device
  std::map<int, std::vector<Reserve>> reserves_;  // likewise
};

}  // namespace softgpu::runtime
