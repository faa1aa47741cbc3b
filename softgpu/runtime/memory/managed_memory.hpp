// Managed memory: what a program has said about its pages, and moving them.
//
// All of it lies in the host's memory, where every device can use it, so advice changes nothing but what is reported.
// Prefetching gives pages memory before they are touched, discarding takes it away.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <span>

namespace softgpu::runtime {

struct MemoryServices;
class Stream;

struct MemoryRange {
  CUdeviceptr first = 0;
  std::size_t bytes = 0;
};

// Advice is for managed memory and, without being kept, for the program's own, which devices can use, too.
// Throws CUDA_ERROR_INVALID_VALUE for other memory, and for a location that is none where it matters.
void advise(MemoryServices& services, MemoryRange range, CUmem_advise advice, const CUmemLocation& location);

// One attribute, in the form cuMemRangeGetAttribute documents; `bytes` is the room at `data`.
void get_range_attribute(const MemoryServices& services, void* data, std::size_t bytes, CUmem_range_attribute attribute,
                         MemoryRange range);

struct Prefetch {
  MemoryRange range;
  CUmemLocation location{};
};
// One after the other: what comes before one that fails is done.
void prefetch(MemoryServices& services, Stream& stream, std::span<const Prefetch> batch);
// Checked as a whole before any of it is enqueued.
void discard(const MemoryServices& services, Stream& stream, std::span<const MemoryRange> batch);

// Says by which streams the memory will be used. Everybody may use it anyway, so that this orders and checks only.
void attach(const MemoryServices& services, Stream& stream, MemoryRange range, unsigned flags);

}  // namespace softgpu::runtime
