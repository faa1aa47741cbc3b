// The one range of addresses that all memory softgpu hands out lies in.
//
// A device pointer is a host pointer. Pages are inaccessible until they are mapped and again after they are
// unmapped, and at least one inaccessible page follows every mapping, so that a stray access faults.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <utility>

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
  // Gives back what map() returned for the same size.
  void unmap(std::byte* base, std::size_t bytes);

  bool contains(const void* pointer) const;
  std::size_t size() const { return size_; }

 private:
  using Range = std::pair<std::uintptr_t, std::size_t>;  // address, bytes

  Range take(std::size_t bytes, std::size_t alignment);
  void give(Range range);
  void insert_free(Range range);
  void erase_free(Range range);

  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
  std::mutex mutex_;
  std::map<std::uintptr_t, std::size_t> free_by_address_;
  std::set<std::pair<std::size_t, std::uintptr_t>> free_by_size_;
};

}  // namespace softgpu::memory
