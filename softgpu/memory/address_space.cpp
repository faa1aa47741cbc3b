#include "softgpu/memory/address_space.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <fstream>

namespace softgpu::memory {
namespace {

constexpr std::size_t kSmallestReservation = std::size_t{1} << 30;
constexpr std::size_t kGuardBytes = kPageBytes;
constexpr std::size_t kChunkBytes = std::size_t{64} << 20;
constexpr std::size_t kFewestInChunk = 16;  // so that there are far fewer chunks than mappings, whatever their size

constexpr int kMapFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

// Drops what is mapped there.
bool map_anew(std::byte* base, std::size_t bytes, int protection) {
  return mmap(base, bytes, protection, kMapFlags | MAP_FIXED, -1, 0) != MAP_FAILED;
}

// Drops the contents of pages that are no file's, which then read as zeros. The system refuses for locked pages.
bool clear(std::byte* base, std::size_t bytes) {
  if (madvise(base, bytes, MADV_DONTNEED) != 0) std::memset(base, 0, bytes);
  return true;  // always, as map_anew() is not
}

// What a mapping of `bytes` takes of the address space.
std::size_t footprint(std::size_t bytes) { return round_up(bytes, kPageBytes) + kGuardBytes; }

std::uint64_t number(const std::byte* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace

// A quarter of the table at most: each takes two entries.
std::size_t AddressSpace::guarded_mappings() {
  constexpr std::size_t kDefaultTable = 65530;
  std::size_t table = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> table;
  return (table != 0 ? table : kDefaultTable) / 8;
}

AddressSpace::AddressSpace(std::size_t bytes, std::size_t most_guarded) : most_guarded_(most_guarded) {
  for (size_ = round_up(bytes, kSmallestReservation); size_ >= kSmallestReservation; size_ /= 2) {
    void* reserved = mmap(nullptr, size_, PROT_NONE, kMapFlags, -1, 0);
    if (reserved == MAP_FAILED) continue;
    base_ = static_cast<std::byte*>(reserved);
    const std::size_t half = size_ / 2 / kHugePageBytes * kHugePageBytes;
    // Neighbours of the whole range are the program's: neither its first byte nor its last is anybody's.
    free_.give(number(base_ + kHugePageBytes), half - kHugePageBytes);
    free_reserved_.give(number(base_ + half), size_ - half - kHugePageBytes);
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
  std::byte* const guarded = map_guarded(bytes);
  return guarded != nullptr ? guarded : map_in_chunk(bytes);
}

std::byte* AddressSpace::map_guarded(std::size_t bytes) {
  if (bytes > size_) throw OutOfMemory();
  std::byte* base = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    if (guarded_ >= most_guarded_) return nullptr;
    const auto first = free_.take(footprint(bytes), alignment_for(bytes));
    if (!first) throw OutOfMemory();
    base = reinterpret_cast<std::byte*>(*first);
    ++guarded_;
  }
  const std::size_t mapped = round_up(bytes, kPageBytes);
  if (mprotect(base, mapped, PROT_READ | PROT_WRITE) != 0) {
    const std::scoped_lock lock(mutex_);
    --guarded_;
    free_.give(number(base), footprint(bytes));
    return nullptr;
  }
  if (mapped >= kHugePageBytes) madvise(base, mapped, MADV_HUGEPAGE);  // fewer faults; harmless where it fails
  return base;
}

std::byte* AddressSpace::map_in_chunk(std::size_t bytes) {
  const std::size_t wanted = round_up(bytes, kPageBytes);
  if (wanted < bytes || wanted > size_) throw OutOfMemory();
  const std::scoped_lock lock(mutex_);
  if (std::byte* const base = take_from_chunks(wanted)) return base;
  for (const std::size_t chunk : {std::max(kChunkBytes, round_up(wanted * kFewestInChunk, kHugePageBytes)), wanted}) {
    const auto first = chunk <= size_ ? free_.take(footprint(chunk), alignment_for(chunk)) : std::nullopt;
    if (!first) continue;  // there may be room for less
    auto* const base = reinterpret_cast<std::byte*>(*first);
    if (mprotect(base, chunk, PROT_READ | PROT_WRITE) != 0) {
      free_.give(*first, footprint(chunk));
      continue;
    }
    chunks_.emplace(base, chunk);
    free_in_chunks_.give(*first, chunk);
    return take_from_chunks(wanted);
  }
  throw OutOfMemory();
}

std::byte* AddressSpace::take_from_chunks(std::size_t bytes) {
  return reinterpret_cast<std::byte*>(free_in_chunks_.take(bytes, alignment_for(bytes)).value_or(0));
}

void AddressSpace::note_file(std::byte* base) {
  const std::scoped_lock lock(mutex_);
  files_.insert(base);
}

void AddressSpace::unmap(std::byte* base, std::size_t bytes) {
  const std::size_t mapped = round_up(bytes, kPageBytes);
  std::unique_lock lock(mutex_);
  const bool is_file = files_.erase(base) != 0;
  if (unmap_in_chunk(base, mapped, is_file)) return;
  lock.unlock();
  // Where the table of mappings is full, mapping anew may fail; the other two calls need no entry of it.
  const bool done =
      make_inaccessible(base, mapped) || (!is_file && clear(base, mapped) && mprotect(base, mapped, PROT_NONE) == 0);
  lock.lock();
  --guarded_;
  if (done) free_.give(number(base), footprint(bytes));  // else the pages are kept, and the addresses with them
}

// Under the lock.
bool AddressSpace::unmap_in_chunk(std::byte* base, std::size_t mapped, bool is_file) {
  auto chunk = chunks_.upper_bound(base);
  if (chunk == chunks_.begin()) return false;
  --chunk;
  const auto [chunk_base, chunk_bytes] = *chunk;
  if (base >= chunk_base + chunk_bytes) return false;
  if (!(is_file ? map_anew(base, mapped, PROT_READ | PROT_WRITE) : clear(base, mapped))) return true;  // kept
  free_in_chunks_.give(number(base), mapped);
  const bool is_empty = free_in_chunks_.take_at(number(chunk_base), chunk_bytes);
  if (!is_empty) return true;
  if (!make_inaccessible(chunk_base, chunk_bytes)) {
    free_in_chunks_.give(number(chunk_base), chunk_bytes);
    return true;
  }
  free_.give(number(chunk_base), footprint(chunk_bytes));
  chunks_.erase(chunk);
  return true;
}

void AddressSpace::unclaim(std::byte* base, std::size_t bytes) {
  // Where the system refuses, what is mapped there is kept, and the addresses with it.
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
bool AddressSpace::make_inaccessible(std::byte* base, std::size_t bytes) { return map_anew(base, bytes, PROT_NONE); }

}  // namespace softgpu::memory
