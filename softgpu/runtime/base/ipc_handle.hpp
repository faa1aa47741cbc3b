// The 64 bytes by which another process finds memory or an event: where the shared file is open in the process that
// exported it, and the file's random id, so that no other file is taken for it.
//
// Found through /proc, so both processes must see each other there and belong to the same user. A handle is good while
// the exporting process lives and has not freed what it exported.
#pragma once

#include <memory>

#include "softgpu/memory/shared_file.hpp"

namespace softgpu::runtime {

inline constexpr std::size_t kIpcHandleBytes = 64;

void write_ipc_handle(const memory::SharedFile& file, memory::SharedFile::Purpose purpose, void* handle);

// Throws CUDA_ERROR_INVALID_CONTEXT for a handle of this very process, as NVIDIA's driver does;
// CUDA_ERROR_INVALID_VALUE for what is no handle; CUDA_ERROR_MAP_FAILED for one that is no longer good.
std::shared_ptr<memory::SharedFile> open_ipc_handle(memory::SharedFile::Purpose purpose, const void* handle);

}  // namespace softgpu::runtime
