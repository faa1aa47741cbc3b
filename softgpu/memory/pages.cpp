#include "softgpu/memory/pages.hpp"

#include <sys/mman.h>

#include <cstdint>

#include "softgpu/memory/address_space.hpp"

#ifndef MADV_POPULATE_WRITE  // Linux 5.14
  #define MADV_POPULATE_WRITE 23
#endif

namespace softgpu::memory {

void populate_pages(std::byte* begin, std::size_t bytes) {
  const auto offset = reinterpret_cast<std::uintptr_t>(begin) % kPageBytes;
  madvise(begin - offset, round_up(bytes + offset, kPageBytes), MADV_POPULATE_WRITE);
}

void discard_pages(std::byte* begin, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = round_up(address, kPageBytes), end = (address + bytes) / kPageBytes * kPageBytes;
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

}  // namespace softgpu::memory
