// Memory pools between processes: a pool goes to another process as a file descriptor, each of its allocations as 64
// bytes of data.
#pragma once

#include <cuda.h>

#include <memory>

#include "softgpu/memory/heap.hpp"
#include "softgpu/runtime/memory/memory_pool.hpp"

namespace softgpu::runtime {

// The heap that a pool of these properties takes its memory from, counted as that of `heap`: the same one unless the
// pool is to be shared. Throws what cuMemPoolCreate returns for handle types that can't be had.
std::shared_ptr<memory::Heap> shareable_heap(const std::shared_ptr<memory::Heap>& heap,
                                             const CUmemPoolProps& properties);

// The caller closes the descriptor.
int export_pool(const MemoryPool& pool, CUmemAllocationHandleType type);
// Leaves the descriptor open.
std::shared_ptr<MemoryPool> import_pool(MemoryServices& services, int descriptor, CUmemAllocationHandleType type);

// Valid until the memory is freed.
CUmemPoolPtrExportData export_pointer(MemoryServices& services, CUdeviceptr pointer);
// Freed like memory of this process. What one process frees stays there for the others that have it mapped, until the
// exporting process gives it out again.
CUdeviceptr import_pointer(MemoryServices& services, MemoryPool& pool, const CUmemPoolPtrExportData& data);

}  // namespace softgpu::runtime
