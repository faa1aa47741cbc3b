// From memory pool handles to pools.
#pragma once

#include <memory>

#include "softgpu/api/base/call.hpp"
#include "softgpu/runtime/memory/memory_pool.hpp"

namespace softgpu::api {

// Throws CUDA_ERROR_INVALID_VALUE.
inline std::shared_ptr<runtime::MemoryPool> find_pool(CUmemoryPool handle) {
  auto pool = Driver::get().memory().pools.find(handle);
  require(pool != nullptr, CUDA_ERROR_INVALID_VALUE, "not a memory pool, or one that was destroyed");
  return pool;
}

}  // namespace softgpu::api
