// Copies and memory operations as programs describe them, for streams and for nodes of graphs.
#pragma once

#include "softgpu/api/base/headers.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"
#include "softgpu/runtime/memory/stream_memory.hpp"

namespace softgpu::api {

// Throw CUDA_ERROR_INVALID_VALUE for what is none.
runtime::Copy copy_of(const CUDA_MEMCPY3D* request);
runtime::MemoryOperation operation_of(const CUstreamBatchMemOpParams& request);

}  // namespace softgpu::api
