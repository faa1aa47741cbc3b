#include "softgpu/runtime/memory/pool_sharing.hpp"

#include <cstring>

#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"

namespace softgpu::runtime {
namespace {

using memory::SharedFile;

// What the pool's file says of it.
struct PoolProperties {
  CUmemAllocationType type;
  CUmemLocation location;
};

// What CUmemPoolPtrExportData holds.
struct PointerData {
  std::array<char, 8> magic;
  SharedFile::Id pool;
  std::uint64_t slot, serial;
  std::array<std::byte, 24> zeros;
};
static_assert(sizeof(PointerData) == sizeof(CUmemPoolPtrExportData));

constexpr std::array<char, 8> kPointerMagic = {'s', 'o', 'f', 't', 'g', 'p', 'u', 'p'};

bool can_be_shared(const PoolProperties& pool) {
  return pool.type == CU_MEM_ALLOCATION_TYPE_PINNED &&
         (pool.location.type == CU_MEM_LOCATION_TYPE_DEVICE || pool.location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA);
}

void require_file_descriptor(CUmemAllocationHandleType type) {
  require(type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CUDA_ERROR_INVALID_VALUE,
          "pools are shared by file descriptor");
}

// The export of an allocation, made when it is asked for the first time.
std::shared_ptr<memory::SharedHeap::Export> export_of(memory::AllocationTable& allocations,
                                                      const memory::Allocation& allocation, memory::SharedHeap& heap) {
  using Export = memory::SharedHeap::Export;
  if (auto before = std::dynamic_pointer_cast<Export>(allocation.backing)) return before;
  std::shared_ptr<Export> exported = heap.export_range(allocation.base, allocation.size);
  const bool there = allocations.modify(allocation.base, [&](memory::Allocation& entry) {
    if (entry.backing == nullptr)
      entry.backing = exported;
    else
      exported = std::dynamic_pointer_cast<Export>(entry.backing);  // another thread was faster
  });
  require(there && exported != nullptr, CUDA_ERROR_INVALID_VALUE, "the memory was freed meanwhile");
  return exported;
}

}  // namespace

std::shared_ptr<memory::Heap> shareable_heap(const std::shared_ptr<memory::Heap>& heap,
                                             const CUmemPoolProps& properties) {
  if (properties.handleTypes == CU_MEM_HANDLE_TYPE_NONE) return heap;
  const PoolProperties pool{properties.allocType, properties.location};
  require(can_be_shared(pool), CUDA_ERROR_INVALID_VALUE,
          "pools can be shared on a device or on a NUMA node of the host");
  require(properties.handleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CUDA_ERROR_NOT_SUPPORTED,
          "softgpu shares pools by file descriptor only");
  return std::make_shared<memory::SharedHeap>(
      heap, SharedFile::create(SharedFile::Purpose::pool, memory::SharedHeap::kFileBytes, pool));
}

int export_pool(const MemoryPool& pool, CUmemAllocationHandleType type) {
  require_file_descriptor(type);
  require(pool.shared_heap() != nullptr, CUDA_ERROR_INVALID_VALUE, "the pool was not created to be shared");
  memory::Descriptor descriptor = pool.shared_heap()->file().descriptor().duplicate();
  require(static_cast<bool>(descriptor), CUDA_ERROR_OPERATING_SYSTEM, "the process has too many open files");
  pool.shared_heap()->file().note_shared();
  return descriptor.release();
}

std::shared_ptr<MemoryPool> import_pool(MemoryServices& services, int descriptor, CUmemAllocationHandleType type) {
  require_file_descriptor(type);
  auto file = SharedFile::open(SharedFile::Purpose::pool, memory::Descriptor::duplicate(descriptor));
  require(file != nullptr, CUDA_ERROR_INVALID_VALUE, "not a descriptor of a shared memory pool");
  const auto said = file->properties<PoolProperties>();
  require(can_be_shared(said), CUDA_ERROR_INVALID_VALUE, "the pool is of a kind that can't be shared");
  CUmemPoolProps properties{};
  properties.allocType = said.type;
  properties.location = said.location;
  if (said.location.type == CU_MEM_LOCATION_TYPE_DEVICE)
    services.devices.at(said.location.id);  // this process has it, too
  auto pool = std::make_shared<MemoryPool>(
      services.devices, std::make_shared<memory::ImportedHeap>(services.space, std::move(file)), properties);
  pool->retire();  // what is freed is unmapped at once
  return pool;
}

CUmemPoolPtrExportData export_pointer(MemoryServices& services, CUdeviceptr pointer) {
  const auto found = services.allocations.find_base(to_pointer(pointer));
  require(found && found->pool, CUDA_ERROR_INVALID_VALUE, "the pointer is not the start of memory of a pool");
  const auto& heap = static_cast<const MemoryPool&>(*found->pool).shared_heap();
  require(heap != nullptr, CUDA_ERROR_INVALID_VALUE, "the memory's pool was not created to be shared");
  const auto exported = export_of(services.allocations, *found, *heap);
  const PointerData data{kPointerMagic, heap->file().id(), exported->slot(), exported->serial(), {}};
  CUmemPoolPtrExportData result;
  std::memcpy(&result, &data, sizeof data);
  return result;
}

CUdeviceptr import_pointer(MemoryServices& services, MemoryPool& pool, const CUmemPoolPtrExportData& exported) {
  PointerData data;
  std::memcpy(&data, &exported, sizeof data);
  const auto& heap = pool.imported_heap();
  require(heap != nullptr, CUDA_ERROR_INVALID_VALUE, "memory is imported into an imported pool");
  require(data.magic == kPointerMagic && data.zeros == decltype(data.zeros){}, CUDA_ERROR_INVALID_VALUE,
          "not what cuMemPoolExportPointer gives");
  require(data.pool == heap->file().id(), CUDA_ERROR_INVALID_VALUE, "the memory is another pool's");
  const auto record = heap->find(data.slot, data.serial);
  require(record.has_value(), CUDA_ERROR_INVALID_VALUE, "the memory was freed by the process that exported it");
  std::byte* base = heap->map(*record);
  pool.adopt(base, record->bytes);
  services.allocations.insert({.base = base,
                               .size = record->bytes,
                               .kind = pool.kind(),
                               .device = pool.location().type == CU_MEM_LOCATION_TYPE_DEVICE ? pool.location().id : 0,
                               .pool = pool.shared_from_this()});
  return to_device(base);
}

}  // namespace softgpu::runtime
