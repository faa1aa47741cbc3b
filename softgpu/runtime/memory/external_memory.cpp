#include "softgpu/runtime/memory/external_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/base/imported_descriptor.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"
#include "softgpu/runtime/work/context.hpp"
#include "softgpu/runtime/work/stream_capture.hpp"

namespace softgpu::runtime {
namespace {

// The whole pages around a buffer: mappings consist of those, buffers need not.
struct Pages {
  std::size_t before;  // the buffer begins so far behind the first one's beginning
  std::size_t bytes;   // all of them
};
Pages pages_around(std::uintptr_t first, std::size_t bytes, std::size_t page_bytes) {
  const std::size_t before = first % page_bytes;
  return {before, memory::round_up(before + bytes, page_bytes)};
}

}  // namespace

ExternalMemory::ExternalMemory(std::shared_ptr<Context> context, memory::Descriptor descriptor, std::size_t bytes)
    : context_(std::move(context)),
      descriptor_(std::move(descriptor)),
      file_(memory::SharedFile::open(memory::SharedFile::Purpose::physical_memory, descriptor_.duplicate())),
      bytes_(bytes),
      page_bytes_(file_ != nullptr ? memory::kPageBytes : page_bytes(descriptor_)) {
  require(file_ != nullptr || !memory::SharedFile::is_one(descriptor_), CUDA_ERROR_INVALID_HANDLE,
          "the file descriptor is not one of memory, but of a memory pool");
  require((file_ != nullptr ? file_->bytes() : seal_size(descriptor_)) >= bytes, CUDA_ERROR_INVALID_VALUE,
          "the memory is not as large as that");
}

std::shared_ptr<ExternalMemory> ExternalMemory::import(std::shared_ptr<Context> context,
                                                       CUexternalMemoryHandleType type, int descriptor,
                                                       std::size_t bytes) {
  require_unsafe_calls_allowed();
  require(
      type == CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, CUDA_ERROR_NOT_SUPPORTED,
      "softgpu imports memory of memfd_create() and of cuMemCreate (OPAQUE_FD); that of Windows, Direct3D, NvSci and "
      "dma-buf needs their devices");
  require(bytes != 0, CUDA_ERROR_INVALID_VALUE, "external memory of 0 bytes");
  std::shared_ptr<ExternalMemory> made(new ExternalMemory(std::move(context), duplicate_imported(descriptor), bytes));
  close(descriptor);
  return made;
}

void ExternalMemory::map_at(std::byte* address, std::size_t offset, std::size_t bytes) const {
  if (file_ != nullptr) return file_->map_at(address, offset, bytes, memory::Access::read_write);
  const void* mapped = mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor_.number(),
                            static_cast<off_t>(offset));
  require(mapped != MAP_FAILED, CUDA_ERROR_INVALID_HANDLE, "the memory can't be mapped for reading and writing");
}

CUdeviceptr ExternalMemory::map(MemoryServices& services, const std::shared_ptr<ExternalMemory>& source,
                                std::size_t offset, std::size_t bytes, memory::FreedBy freed_by) {
  require_unsafe_calls_allowed();
  require(bytes != 0 && offset < source->bytes_ && bytes <= source->bytes_ - offset, CUDA_ERROR_INVALID_VALUE,
          "the buffer is not a part of the external memory");
  const Pages pages = pages_around(offset, bytes, source->page_bytes_);
  std::byte* const page = services.space.claim(pages.bytes);
  try {
    source->map_at(page, offset - pages.before, pages.bytes);
    services.allocations.insert({.base = page + pages.before,
                                 .size = bytes,
                                 .kind = memory::Kind::device,
                                 .device = source->context_->device().ordinal(),
                                 .context = source->context_->id(),
                                 .freed_by = freed_by,
                                 .backing = source});
  } catch (...) {
    services.space.unclaim(page, pages.bytes);
    throw;
  }
  return to_device(page + pages.before);
}

void ExternalMemory::unmap(memory::AddressSpace& space, const memory::Allocation& allocation) const {
  const Pages pages = pages_around(reinterpret_cast<std::uintptr_t>(allocation.base), allocation.size, page_bytes_);
  space.unclaim(allocation.base - pages.before, pages.bytes);
}

void unmap_external(memory::AddressSpace& space, const memory::Allocation& allocation) {
  static_cast<const ExternalMemory&>(*allocation.backing).unmap(space, allocation);
}

}  // namespace softgpu::runtime
