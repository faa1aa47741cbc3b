// What may be done with memory, in the words of programs.
#pragma once

#include <cuda.h>

#include "softgpu/memory/rights.hpp"

namespace softgpu::runtime {

inline memory::Access access_from(CUmemAccess_flags flags) {
  switch (flags) {
    case CU_MEM_ACCESS_FLAGS_PROT_READWRITE: return memory::Access::read_write;
    case CU_MEM_ACCESS_FLAGS_PROT_READ: return memory::Access::read;
    default: return memory::Access::none;
  }
}

inline CUmemAccess_flags flags_of(memory::Access access) {
  switch (access) {
    case memory::Access::read_write: return CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    case memory::Access::read: return CU_MEM_ACCESS_FLAGS_PROT_READ;
    case memory::Access::none: break;
  }
  return CU_MEM_ACCESS_FLAGS_PROT_NONE;
}

}  // namespace softgpu::runtime
