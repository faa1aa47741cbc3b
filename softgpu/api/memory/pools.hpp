// From memory pool handles to pools.
#pragma once

#include <memory>

#include "softgpu/api/base/call.hpp"
#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/memory/memory_pool.hpp"

namespace softgpu::api {

inline void require_memory_pools() {
  require(Driver::get().device(0).has_memory_pools(), CUDA_ERROR_NOT_SUPPORTED,
          "the devices have no memory pools (SOFTGPU_MEMORY_POOLS)");
}

// Throws CUDA_ERROR_INVALID_VALUE.
inline std::shared_ptr<runtime::MemoryPool> find_pool(CUmemoryPool handle) {
  auto pool = Driver::get().memory().pools.find(handle);
  require(pool != nullptr, CUDA_ERROR_INVALID_VALUE, "not a memory pool, or one that was destroyed");
  return pool;
}

}  // namespace softgpu::api
