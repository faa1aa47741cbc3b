#include "softgpu/runtime/memory/ipc_memory.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>

#include "softgpu/exec/paused_writes.hpp"
#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/base/ipc_handle.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"
#include "softgpu/runtime/work/context.hpp"

namespace softgpu::runtime {
namespace {

using memory::Allocation;
using memory::SharedFile;

constexpr auto kMemoryPurpose = SharedFile::Purpose::device_memory;

// What the file says of the memory.
struct MemoryProperties {
  int device;
  std::uint64_t bytes;  // as asked for
};

// Another process's memory.
class OpenedMemory final : public memory::Backing {
 public:
  explicit OpenedMemory(std::shared_ptr<SharedFile> opened) : file(std::move(opened)) {}

  const std::shared_ptr<SharedFile> file;
  unsigned uses = 1;  // under the lock
};

// Over exporting, opening and closing.
std::mutex& ipc_mutex() {
  static auto& mutex = *new std::mutex;
  return mutex;
}

using Piece = std::array<std::uint64_t, 8 * 1024>;

// Whether any of it is not zero. The pages are read-only meanwhile, which orders this behind what other threads wrote;
// race detectors don't know that.
[[gnu::no_sanitize_thread]] bool copy_piece(const std::byte* from, std::size_t words, Piece& to) {
  const auto* source = reinterpret_cast<const volatile std::uint64_t*>(from);
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < words; ++i) any |= to[i] = source[i];
  return any != 0;
}

// Whole pages. Leaves out what is zero, as the file is: untouched memory stays untouched.
void copy_content(const std::byte* base, std::size_t bytes, const SharedFile& file) {
  const auto piece = std::make_unique<Piece>();
  for (std::size_t done = 0; done < bytes; done += sizeof(Piece)) {
    const std::size_t size = std::min(sizeof(Piece), bytes - done);
    const bool any = copy_piece(base + done, size / sizeof(std::uint64_t), *piece);
    if (any && !file.write(done, piece->data(), size)) throw memory::OutOfMemory();
  }
}

std::shared_ptr<SharedFile> make_file(memory::AddressSpace& space, const Allocation& allocation) {
  const std::size_t bytes = memory::round_up(allocation.size, memory::kPageBytes);
  auto file = SharedFile::create(kMemoryPurpose, bytes, MemoryProperties{allocation.device, allocation.size});
  const exec::PausedWrites paused(allocation.base, bytes);
  try {
    copy_content(allocation.base, bytes, *file);
    file->map_at(allocation.base, 0, bytes, memory::Access::read_write);
    space.note_file(allocation.base);
  } catch (...) {
    memory::protect(allocation.base, bytes, memory::Access::read_write);
    throw;
  }
  return file;
}

CUdeviceptr map_opened(MemoryServices& services, Context& context, std::shared_ptr<SharedFile> file) {
  const auto properties = file->properties<MemoryProperties>();
  require(properties.bytes != 0 && memory::round_up(properties.bytes, memory::kPageBytes) == file->bytes(),
          CUDA_ERROR_INVALID_VALUE, "not a size that memory can have");
  services.devices.at(properties.device);  // this process has it, too
  std::byte* base = services.space.claim(properties.bytes);
  try {
    file->map_at(base, 0, file->bytes(), memory::Access::read_write);
    services.allocations.insert({.base = base,
                                 .size = properties.bytes,
                                 .kind = memory::Kind::device,
                                 .device = properties.device,
                                 .context = context.id(),
                                 .freed_by = memory::FreedBy::closing,
                                 .backing = std::make_shared<OpenedMemory>(std::move(file))});
  } catch (...) {
    services.space.unclaim(base, properties.bytes);
    throw;
  }
  return to_device(base);
}

}  // namespace

bool can_be_exported(const Allocation& allocation) {
  return allocation.kind == memory::Kind::device && allocation.freed_by == memory::FreedBy::freeing && !allocation.pool;
}

CUipcMemHandle export_memory(MemoryServices& services, CUdeviceptr pointer) {
  memory::AllocationTable& allocations = services.allocations;
  const std::scoped_lock lock(ipc_mutex());
  const auto found = allocations.find(to_pointer(pointer));
  require(found && can_be_exported(*found), CUDA_ERROR_INVALID_VALUE, "not memory of cuMemAlloc");
  auto file = std::dynamic_pointer_cast<SharedFile>(found->backing);
  if (file == nullptr) {
    file = make_file(services.space, *found);
    allocations.modify(found->base, [&](Allocation& entry) { entry.backing = file; });
  }
  CUipcMemHandle handle;
  write_ipc_handle(*file, kMemoryPurpose, &handle);
  return handle;
}

CUdeviceptr open_memory(MemoryServices& services, Context& context, const CUipcMemHandle& handle) {
  const std::scoped_lock lock(ipc_mutex());
  auto file = open_ipc_handle(kMemoryPurpose, &handle);
  const auto open_already = services.allocations.find_if([&](const Allocation& allocation) {
    return allocation.freed_by == memory::FreedBy::closing && allocation.context == context.id() &&
           static_cast<const OpenedMemory&>(*allocation.backing).file->id() == file->id();
  });
  if (!open_already) return map_opened(services, context, std::move(file));
  ++static_cast<OpenedMemory&>(*open_already->backing).uses;
  return to_device(open_already->base);
}

void close_memory(MemoryServices& services, CUdeviceptr pointer) {
  std::unique_lock lock(ipc_mutex());
  const auto found = services.allocations.find_base(to_pointer(pointer));
  require(found && found->freed_by == memory::FreedBy::closing, CUDA_ERROR_INVALID_VALUE,
          "the pointer is not the start of memory that was opened");
  if (--static_cast<OpenedMemory&>(*found->backing).uses != 0) return;
  const auto closed = services.allocations.erase(found->base);
  lock.unlock();
  services.work.wait_for_all_contexts();
  if (closed) release(services, *closed);
}

}  // namespace softgpu::runtime
