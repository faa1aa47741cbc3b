// malloc() and free() of device code: the host's heap, with CUDA's limit (cudaLimitMallocHeapSize).
#pragma once

#include <cstddef>

namespace softgpu::exec {

void set_device_heap_limit(std::size_t bytes);
std::size_t device_heap_limit();

// 16-byte aligned; null for zero bytes and when the limit would be exceeded.
void* device_malloc(std::size_t bytes) noexcept;
// False when `memory` is not from device_malloc or has been freed.
bool device_free(void* memory) noexcept;

}  // namespace softgpu::exec
