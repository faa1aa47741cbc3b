// Which allocation an address belongs to.
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "softgpu/memory/backing.hpp"
#include "softgpu/memory/rights.hpp"

namespace softgpu::memory {

class OrderedPool;

enum class Kind : std::uint8_t {
  device,      // cuMemAlloc, pools on a device, module variables
  host,        // page-locked host memory that softgpu allocated
  managed,     // cuMemAllocManaged
  registered,  // the caller's memory, page-locked by cuMemHostRegister
};

// How a program gives memory back.
enum class FreedBy : std::uint8_t {
  freeing,              // cuMemFree and the like
  freeing_external,     // cuMemFree, of a buffer of external memory
  module_unload,        // a module's variables
  closing,              // cuIpcCloseMemHandle
  unmapping,            // cuMemUnmap
  destroying,           // cuArrayDestroy
  destroying_external,  // cuMipmappedArrayDestroy, of an array of external memory
  graph,                // nodes of a graph, and as stream-ordered memory
};

// Whether what lies behind it is external memory.
constexpr bool is_external(FreedBy freed_by) {
  return freed_by == FreedBy::freeing_external || freed_by == FreedBy::destroying_external;
}

struct Allocation {
  std::byte* base = nullptr;
  std::size_t size = 0;  // as asked for
  Kind kind = Kind::device;
  int device = 0;                     // ordinal of the device that holds it, or on which it was allocated
  unsigned flags = 0;                 // as the entry point took them
  std::uint64_t context = 0;          // id of the context it was allocated in; 0 for stream-ordered memory
  std::shared_ptr<OrderedPool> pool;  // stream-ordered memory
  FreedBy freed_by = FreedBy::freeing;
  Rights rights;                     // if the program has mapped it, that is, it is freed by unmapping
  std::shared_ptr<Backing> backing;  // null: pages that only this allocation has
  unsigned handle_types = 0;         // by which it can be shared; CUmemAllocationHandleType
  bool synchronous = false;          // CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
  std::uint64_t id = 0;              // unique in the process; given by insert()

  bool contains(const void* pointer) const {
    const auto* byte = static_cast<const std::byte*>(pointer);
    return byte >= base && byte < base + size;
  }
};

// Who decides on the access to memory: all allocations of one owner may be used by the same contexts.
struct Owner {
  Kind kind = Kind::device;
  int device = 0;
  std::uint64_t context = 0;          // who has peer access to it
  std::shared_ptr<OrderedPool> pool;  // or, if there is one, to the pool
  std::optional<Rights> mapped;       // or, if the program has mapped it, who has these
  auto operator<=>(const Owner&) const = default;
};
// None for memory of the host and managed memory that all may use.
std::optional<Owner> owner_of(const Allocation& allocation);

// Thread-safe. Gives out copies: an allocation may be freed by another thread at any time.
class AllocationTable {
 public:
  // False when the range overlaps one that is there.
  bool insert(Allocation allocation);

  std::optional<Allocation> find(const void* pointer) const;  // any address inside
  // The short answer of find(): what kind of memory it is, and whether there are so many bytes of it from here on.
  // Mappings of one kind that follow each other count as one.
  struct Extent {
    Kind kind;
    std::size_t bytes;  // fewer than were asked for if there are no more
    int device;
    bool pooled;                   // stream-ordered memory: who may use it is the pool's affair
    std::optional<Rights> mapped;  // if the program has mapped it: those to all of the bytes
  };
  std::optional<Extent> extent(const void* pointer, std::size_t bytes) const;
  // Whether `matches(rights)` for memory that the program has mapped here, or in a row with this.
  template <typename Predicate>
  bool any_mapped_in_row(const void* pointer, Predicate&& matches) const {
    const std::shared_lock lock(mutex_);
    const auto here = locate(pointer);
    if (here == allocations_.end() || here->second.freed_by != FreedBy::unmapping) return false;
    for (auto it = here;; --it) {
      if (matches(it->second.rights)) return true;
      if (it == allocations_.begin() || !continues(std::prev(it)->second, it->second)) break;
    }
    for (auto it = std::next(here); it != allocations_.end() && continues(std::prev(it)->second, it->second); ++it)
      if (matches(it->second.rights)) return true;
    return false;
  }
  bool any_in(const void* base, std::size_t size) const;
  std::optional<Allocation> find_base(const void* base) const;  // its first byte
  // The first that `matches(allocation)`; looks at all of them.
  template <typename Predicate>
  std::optional<Allocation> find_if(Predicate&& matches) const {
    const std::shared_lock lock(mutex_);
    for (const auto& [last, allocation] : allocations_)
      if (matches(allocation)) return allocation;
    return std::nullopt;
  }
  std::optional<Allocation> erase(const void* base);
  // Calls change(Allocation&) for the allocation that starts here; it stays its owner's. False when there is none.
  template <typename Change>
  bool modify(const void* base, Change&& change) {
    const std::unique_lock lock(mutex_);
    const auto it = locate(base);
    if (it == allocations_.end() || it->second.base != base) return false;
    change(allocations_.at(it->first));
    return true;
  }
  bool set_synchronous(const void* pointer, bool value);
  // Of the memory that the program has mapped here.
  void set_rights(const void* base, const Rights& rights);

  // Removes all allocations of a context and hands them over.
  template <typename Receiver>
  void erase_context(std::uint64_t context, Receiver&& receiver) {
    const std::unique_lock lock(mutex_);
    for (auto it = allocations_.begin(); it != allocations_.end();) {
      if (it->second.context != context) {
        ++it;
        continue;
      }
      receiver(it->second);
      forget_owner(it->second);
      it = allocations_.erase(it);
    }
  }

  std::vector<Owner> owners() const;
  // Whether there is memory of the host that somebody decides on.
  bool any_owner_of_host_memory() const { return host_owners_.load(std::memory_order_acquire) != 0; }
  // How often anything was freed, an owner came, or access to something was given or taken. What was found out about
  // access holds while this stays the same.
  std::uint64_t changes() const { return changes_.load(std::memory_order_acquire); }
  void note_change_of_access() { changes_.fetch_add(1, std::memory_order_release); }

 private:
  using Map =
      std::map<std::uintptr_t, Allocation>;  // by address of the last byte, so that lower_bound finds the candidate
  Map::const_iterator locate(const void* pointer) const;
  // Whether one follows the other without a gap, both mapped by the program.
  static bool continues(const Allocation& first, const Allocation& next);
  void note_owner(const Allocation& allocation);
  void forget_owner(const Allocation& allocation);

  mutable std::shared_mutex mutex_;
  Map allocations_;
  std::map<Owner, std::size_t> owners_;  // and the number of allocations
  std::atomic<std::size_t> host_owners_{0};
  std::atomic<std::uint64_t> changes_{0};
  std::uint64_t next_id_ = 1;
};

}  // namespace softgpu::memory
