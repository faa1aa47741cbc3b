#include "softgpu/memory/address_space.hpp"

#include <sys/mman.h>

namespace softgpu::memory {
namespace {

constexpr std::size_t kSmallestReservation = std::size_t{1} << 30;
constexpr std::size_t kGuardBytes = kPageBytes;

void* map_inaccessible(void* address, std::size_t bytes, int extra_flags) {
  return mmap(address, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | extra_flags, -1, 0);
}

// What a mapping of `bytes` takes of the address space.
std::size_t footprint(std::size_t bytes) { return round_up(bytes, kPageBytes) + kGuardBytes; }

std::size_t alignment_for(std::size_t bytes) { return bytes >= kHugePageBytes ? kHugePageBytes : kPageBytes; }

}  // namespace

AddressSpace::AddressSpace(std::size_t bytes) {
  for (size_ = round_up(bytes, kSmallestReservation); size_ >= kSmallestReservation; size_ /= 2) {
    void* reserved = map_inaccessible(nullptr, size_, 0);
    if (reserved == MAP_FAILED) continue;
    base_ = static_cast<std::byte*>(reserved);
    insert_free({reinterpret_cast<std::uintptr_t>(base_), size_});
    return;
  }
  throw OutOfMemory();
}

AddressSpace::~AddressSpace() { munmap(base_, size_); }

bool AddressSpace::contains(const void* pointer) const {
  const auto* byte = static_cast<const std::byte*>(pointer);
  return byte >= base_ && byte < base_ + size_;
}

std::byte* AddressSpace::map(std::size_t bytes) {
  if (bytes > size_) throw OutOfMemory();
  const std::size_t mapped = round_up(bytes, kPageBytes);
  Range range;
  {
    const std::scoped_lock lock(mutex_);
    range = take(footprint(bytes), alignment_for(bytes));
  }
  auto* base = reinterpret_cast<std::byte*>(range.first);
  if (mprotect(base, mapped, PROT_READ | PROT_WRITE) != 0) {
    const std::scoped_lock lock(mutex_);
    give(range);
    throw OutOfMemory();
  }
  if (mapped >= kHugePageBytes) madvise(base, mapped, MADV_HUGEPAGE);  // fewer faults; harmless where it fails
  return base;
}

void AddressSpace::unmap(std::byte* base, std::size_t bytes) {
  // Mapping anew drops the pages and makes them inaccessible in one call. It can fail only where the kernel's table of
  // mappings is full; the pages are then kept, and the addresses with them.
  if (map_inaccessible(base, round_up(bytes, kPageBytes), MAP_FIXED) == MAP_FAILED) return;
  const std::scoped_lock lock(mutex_);
  give({reinterpret_cast<std::uintptr_t>(base), footprint(bytes)});
}

// Best fit: the smallest free range that holds `bytes` at the alignment.
AddressSpace::Range AddressSpace::take(std::size_t bytes, std::size_t alignment) {
  for (auto it = free_by_size_.lower_bound({bytes, 0}); it != free_by_size_.end(); ++it) {
    const auto [free_bytes, free_address] = *it;
    const std::uintptr_t address = round_up(free_address, alignment);
    const std::size_t skipped = address - free_address;
    if (free_bytes < skipped + bytes) continue;
    erase_free({free_address, free_bytes});
    if (skipped != 0) insert_free({free_address, skipped});
    if (free_bytes > skipped + bytes) insert_free({address + bytes, free_bytes - skipped - bytes});
    return {address, bytes};
  }
  throw OutOfMemory();
}

// Joins the range with its free neighbours.
void AddressSpace::give(Range range) {
  auto next = free_by_address_.lower_bound(range.first);
  if (next != free_by_address_.end() && next->first == range.first + range.second) {
    const Range neighbour = *next++;
    erase_free(neighbour);
    range.second += neighbour.second;
  }
  if (next != free_by_address_.begin()) {
    const Range neighbour = *--next;
    if (neighbour.first + neighbour.second == range.first) {
      erase_free(neighbour);
      range = {neighbour.first, neighbour.second + range.second};
    }
  }
  insert_free(range);
}

void AddressSpace::insert_free(Range range) {
  free_by_address_.insert(range);
  free_by_size_.insert({range.second, range.first});
}

void AddressSpace::erase_free(Range range) {
  free_by_address_.erase(range.first);
  free_by_size_.erase({range.second, range.first});
}

}  // namespace softgpu::memory
