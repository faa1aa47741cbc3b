// Managed memory: what a program has said about its pages, and moving them.
//
// All of it lies in the host's memory, where every device can use it, so advice changes nothing but what is reported.
// Prefetching gives pages memory before they are touched, discarding takes it away.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "softgpu/memory/page_ranges.hpp"
#include "softgpu/runtime/base/location.hpp"

namespace softgpu::runtime {

class Stream;

// Of a page. Locations of type CU_MEM_LOCATION_TYPE_INVALID: none.
struct PageAdvice {
  bool read_mostly = false;
  bool accessed_by_host = false;
  std::uint64_t accessed_by_devices = 0;  // bit n: device n
  CUmemLocation preferred{};
  CUmemLocation last_prefetch{};

  bool operator==(const PageAdvice&) const = default;
};

using ManagedPages = memory::PageRanges<PageAdvice>;

struct MemoryRange {
  CUdeviceptr first = 0;
  std::size_t bytes = 0;
};

// Advice is for managed memory and, without being kept, for the program's own, which devices can use, too.
// Throws CUDA_ERROR_INVALID_VALUE for other memory, and for a location that is none where it matters.
void advise(MemoryRange range, CUmem_advise advice, const CUmemLocation& location);

// One attribute, in the form cuMemRangeGetAttribute documents; `bytes` is the room at `data`.
void get_range_attribute(void* data, std::size_t bytes, CUmem_range_attribute attribute, MemoryRange range);

struct Prefetch {
  MemoryRange range;
  CUmemLocation location{};
};
// One after the other: what comes before one that fails is done.
void prefetch(Stream& stream, std::span<const Prefetch> batch);
// Checked as a whole before any of it is enqueued.
void discard(Stream& stream, std::span<const MemoryRange> batch);

// Says by which streams the memory will be used. Everybody may use it anyway, so that this orders and checks only.
void attach(Stream& stream, MemoryRange range, unsigned flags);

}  // namespace softgpu::runtime
