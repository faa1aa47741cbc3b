// The one range of addresses that all memory softgpu hands out lies in.
//
// A device pointer is a host pointer. Pages are inaccessible until they are mapped and again after they are
// unmapped, and at least one inaccessible page follows every mapping, so that a stray access faults. Ranges that
// programs reserve to map memory into themselves lie in a part of their own, one behind the other, because there a
// program may want the addresses that follow.
//
// Each such mapping takes two entries of the system's table of the process's mappings (vm.max_map_count), which
// threads, malloc and the loader need as well. So there is a limit to them. What is mapped beyond it lies side by side
// in chunks that are accessible as a whole: it gets zeroed memory and gives it back like the others, but an
// inaccessible page follows the chunk only.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <new>
#include <set>

#include "softgpu/memory/free_ranges.hpp"

namespace softgpu::memory {

inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// What is large lies where the system can give it huge pages.
constexpr std::size_t alignment_for(std::size_t bytes) { return bytes >= kHugePageBytes ? kHugePageBytes : kPageBytes; }

// No address range, no room in the device's memory, or no memory in the machine.
struct OutOfMemory : std::bad_alloc {
  const char* what() const noexcept override { return "out of device memory"; }
};

class AddressSpace {
 public:
  // Reserves up to `bytes`; less where the process is limited, at least 1 GiB, else throws OutOfMemory. So many
  // mappings have a page of their own behind them.
  explicit AddressSpace(std::size_t bytes, std::size_t most_guarded = guarded_mappings());
  ~AddressSpace();
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  // Zeroed, readable and writable memory; the size is rounded up to whole pages. Throws OutOfMemory.
  std::byte* map(std::size_t bytes);
  // As map(), but with nothing there yet: the caller maps a file to the addresses.
  std::byte* claim(std::size_t bytes);
  // Gives back what map() or claim() returned for the same size.
  void unmap(std::byte* base, std::size_t bytes);
  void unclaim(std::byte* base, std::size_t bytes);

  // Somebody has mapped a file in place of the pages that map() returned.
  void note_file(std::byte* base);

  // A range for mappings that the program places: whole pages, at a multiple of `alignment`, and at `hint` if that is
  // possible (null: anywhere). Throws OutOfMemory.
  std::byte* reserve(std::size_t bytes, std::size_t alignment, std::byte* hint);
  // Gives back what reserve() returned for the same size.
  void release(std::byte* base, std::size_t bytes);
  // Drops what is mapped to the addresses, which stay with whoever has them. False when the system refuses.
  static bool make_inaccessible(std::byte* base, std::size_t bytes);

  bool contains(const void* pointer) const;
  std::size_t size() const { return size_; }

  // How many mappings this system lets a process guard, with most of its table left to others.
  static std::size_t guarded_mappings();

 private:
  std::byte* map_guarded(std::size_t bytes);  // null: the system refuses
  std::byte* map_in_chunk(std::size_t bytes);
  std::byte* take_from_chunks(std::size_t bytes);                         // null: there is no room in them
  bool unmap_in_chunk(std::byte* base, std::size_t bytes, bool is_file);  // false: it is in none

  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
  std::mutex mutex_;
  FreeRanges free_;           // the lower half
  FreeRanges free_reserved_;  // the upper half, for reserve()
  const std::size_t most_guarded_;
  std::size_t guarded_ = 0;
  std::map<std::byte*, std::size_t> chunks_;  // where they start and how long they are
  FreeRanges free_in_chunks_;                 // zeroed and accessible
  std::set<std::byte*> files_;                // what note_file() was told
};

}  // namespace softgpu::memory
