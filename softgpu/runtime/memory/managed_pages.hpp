// What a program has said about the pages of managed memory.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "softgpu/memory/page_ranges.hpp"
#include "softgpu/runtime/base/location.hpp"

namespace softgpu::runtime {

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

}  // namespace softgpu::runtime
