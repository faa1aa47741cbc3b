// Memory of cuMemAlloc between processes (cuIpcGetMemHandle and what belongs to it).
#pragma once

#include <cuda.h>

#include "softgpu/memory/allocation_table.hpp"

namespace softgpu::runtime {

class Context;
struct MemoryServices;

// Whether it is memory of cuMemAlloc.
bool can_be_exported(const memory::Allocation& allocation);

// Device memory is private pages, which huge pages make faster than a file's. An allocation becomes a file when it is
// exported for the first time, while kernels go on using it.
CUipcMemHandle export_memory(MemoryServices& services, CUdeviceptr pointer);

// Opening again what the context has open gives the same address, to be closed as often.
CUdeviceptr open_memory(MemoryServices& services, Context& context, const CUipcMemHandle& handle);
// Waits for what is under way.
void close_memory(MemoryServices& services, CUdeviceptr pointer);

}  // namespace softgpu::runtime
