// The one range of addresses that all memory softgpu hands out lies in.
//
// A device pointer is a host pointer. Pages are inaccessible until they are mapped and again after they are
// unmapped, and at least one inaccessible page follows every mapping, so that a stray access faults. Ranges that
// programs reserve to map memory into themselves lie in a part of their own, one behind the other, because there a
// program may want the addresses that follow.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>

#include "softgpu/memory/free_ranges.hpp"

namespace softgpu::memory {

inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// No address range, no room in the device's memory, or no memory in the machine.
struct OutOfMemory : std::bad_alloc {
  const char* what() const noexcept override { return "out of device memory"; }
};

class AddressSpace {
 public:
  // Reserves up to `bytes`; less where the process is limited, at least 1 GiB, else throws OutOfMemory.
  explicit AddressSpace(std::size_t bytes);
  ~AddressSpace();
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  // Zeroed, readable and writable memory; the size is rounded up to whole pages. Throws OutOfMemory.
  std::byte* map(std::size_t bytes);
  // As map(), but with nothing there yet: the caller maps a file to the addresses.
  std::byte* claim(std::size_t bytes);
  // Gives back what map() or claim() returned for the same size.
  void unmap(std::byte* base, std::size_t bytes);

  // A range for mappings that the program places: whole pages, at a multiple of `alignment`, and at `hint` if that is
  // possible (null: anywhere). Throws OutOfMemory.
  std::byte* reserve(std::size_t bytes, std::size_t alignment, std::byte* hint);
  // Gives back what reserve() returned for the same size.
  void release(std::byte* base, std::size_t bytes);
  // Drops what is mapped to the addresses, which stay with whoever has them. False when the system refuses.
  static bool make_inaccessible(std::byte* base, std::size_t bytes);

  bool contains(const void* pointer) const;
  std::size_t size() const { return size_; }

 private:
  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
  std::mutex mutex_;
  FreeRanges free_;           // the lower half
  FreeRanges free_reserved_;  // the upper half, for reserve()
};

}  // namespace softgpu::memory
