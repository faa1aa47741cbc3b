// Memory from outside of CUDA (cuImportExternalMemory). As with semaphores, what Linux itself lets processes share is
// what can be imported: memory of memfd_create(). As on a GPU, memory of cuMemCreate can be, too. Buffers are mapped,
// so that nothing is copied.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <memory>
#include <utility>

#include "softgpu/memory/allocation_table.hpp"
#include "softgpu/memory/shared_file.hpp"

namespace softgpu::runtime {

class Context;
struct MemoryServices;

// Thread-safe.
class ExternalMemory final : public memory::Backing {
 public:
  // Takes the descriptor over when it succeeds. Throws CUDA_ERROR_NOT_SUPPORTED for kinds that there are not here,
  // CUDA_ERROR_INVALID_HANDLE for a descriptor that is not open for such memory, and CUDA_ERROR_INVALID_VALUE for a
  // size that it does not have.
  static std::shared_ptr<ExternalMemory> import(std::shared_ptr<Context> context, CUexternalMemoryHandleType type,
                                                int descriptor, std::size_t bytes);

  // The context it was imported in.
  Context& context() const { return *context_; }

  // Maps a part of it, at any offset, as memory of the context's device. It is freed as any device memory, or with the
  // array that it is for, and outlives this object. Throws CUDA_ERROR_INVALID_VALUE for a part that is not in it.
  static CUdeviceptr map(MemoryServices& services, const std::shared_ptr<ExternalMemory>& source, std::size_t offset,
                         std::size_t bytes, memory::FreedBy freed_by = memory::FreedBy::freeing_external);
  // Gives back the addresses of what map() returned.
  void unmap(memory::AddressSpace& space, const memory::Allocation& allocation) const;

 private:
  ExternalMemory(std::shared_ptr<Context> context, memory::Descriptor descriptor, std::size_t bytes);
  // Whole pages, up to that of the last byte. Throws CUDA_ERROR_INVALID_HANDLE.
  void map_at(std::byte* address, std::size_t offset, std::size_t bytes) const;

  const std::shared_ptr<Context> context_;
  const memory::Descriptor descriptor_;
  const std::shared_ptr<memory::SharedFile> file_;  // the same, if it is memory of cuMemCreate
  const std::size_t bytes_;
  const std::size_t page_bytes_;
};

// ExternalMemory::unmap() of the memory that the allocation is of.
void unmap_external(memory::AddressSpace& space, const memory::Allocation& allocation);

}  // namespace softgpu::runtime
