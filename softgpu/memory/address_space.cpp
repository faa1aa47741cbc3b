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

std::uint64_t number(const std::byte* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

std::size_t alignment_for(std::size_t bytes) { return bytes >= kHugePageBytes ? kHugePageBytes : kPageBytes; }

}  // namespace

AddressSpace::AddressSpace(std::size_t bytes) {
  for (size_ = round_up(bytes, kSmallestReservation); size_ >= kSmallestReservation; size_ /= 2) {
    void* reserved = map_inaccessible(nullptr, size_, 0);
    if (reserved == MAP_FAILED) continue;
    base_ = static_cast<std::byte*>(reserved);
    const std::size_t half = size_ / 2 / kHugePageBytes * kHugePageBytes;
    free_.give(number(base_), half);
    free_reserved_.give(number(base_ + half), size_ - half);
    return;
  }
  throw OutOfMemory();
}

AddressSpace::~AddressSpace() { munmap(base_, size_); }

bool AddressSpace::contains(const void* pointer) const {
  const auto* byte = static_cast<const std::byte*>(pointer);
  return byte >= base_ && byte < base_ + size_;
}

std::byte* AddressSpace::claim(std::size_t bytes) {
  if (bytes > size_) throw OutOfMemory();
  const std::scoped_lock lock(mutex_);
  const auto first = free_.take(footprint(bytes), alignment_for(bytes));
  if (!first) throw OutOfMemory();
  return reinterpret_cast<std::byte*>(*first);
}

std::byte* AddressSpace::map(std::size_t bytes) {
  std::byte* base = claim(bytes);
  const std::size_t mapped = round_up(bytes, kPageBytes);
  if (mprotect(base, mapped, PROT_READ | PROT_WRITE) != 0) {
    const std::scoped_lock lock(mutex_);
    free_.give(number(base), footprint(bytes));
    throw OutOfMemory();
  }
  if (mapped >= kHugePageBytes) madvise(base, mapped, MADV_HUGEPAGE);  // fewer faults; harmless where it fails
  return base;
}

void AddressSpace::unmap(std::byte* base, std::size_t bytes) {
  // Where the system refuses, the pages are kept, and the addresses with them.
  if (!make_inaccessible(base, round_up(bytes, kPageBytes))) return;
  const std::scoped_lock lock(mutex_);
  free_.give(number(base), footprint(bytes));
}

std::byte* AddressSpace::reserve(std::size_t bytes, std::size_t alignment, std::byte* hint) {
  const std::scoped_lock lock(mutex_);
  const bool wanted = hint != nullptr && number(hint) % alignment == 0;
  if (wanted && free_reserved_.take_at(number(hint), bytes)) return hint;
  const auto first = free_reserved_.take(bytes, alignment);
  if (!first) throw OutOfMemory();
  return reinterpret_cast<std::byte*>(*first);
}

void AddressSpace::release(std::byte* base, std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  free_reserved_.give(number(base), bytes);
}

// Mapping anew drops the pages and makes them inaccessible in one call. It can fail only where the kernel's table of
// mappings is full.
bool AddressSpace::make_inaccessible(std::byte* base, std::size_t bytes) {
  return map_inaccessible(base, bytes, MAP_FIXED) != MAP_FAILED;
}

}  // namespace softgpu::memory
