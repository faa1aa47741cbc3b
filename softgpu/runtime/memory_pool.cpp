#include "softgpu/runtime/memory_pool.hpp"

#include <algorithm>
#include <optional>

#include "softgpu/runtime/context.hpp"
#include "softgpu/runtime/device.hpp"
#include "softgpu/runtime/driver.hpp"
#include "softgpu/runtime/error.hpp"
#include "softgpu/runtime/memory_operations.hpp"
#include "softgpu/runtime/pool_sharing.hpp"

namespace softgpu::runtime {
namespace {

std::atomic<bool> freed_since_trim{false};

class FreeOp final : public Op {
 public:
  FreeOp(std::shared_ptr<memory::Pool> pool, memory::Pool::Ticket ticket) : pool_(std::move(pool)), ticket_(ticket) {}

 protected:
  void run() override {
    pool_->reached(ticket_);
    pool_.reset();
    freed_since_trim.store(true, std::memory_order_release);
    finish();
  }

 private:
  std::shared_ptr<memory::Pool> pool_;
  const memory::Pool::Ticket ticket_;
};

class ReleaseOp final : public Op {
 public:
  explicit ReleaseOp(memory::Allocation allocation) : allocation_(std::move(allocation)) {}

 protected:
  void run() override {
    release(allocation_);
    finish();
  }

 private:
  const memory::Allocation allocation_;
};

}  // namespace

MemoryPool::MemoryPool(std::shared_ptr<memory::Heap> heap, const CUmemPoolProps& properties)
    : Pool(heap, memory::round_up(properties.maxSize, memory::kHugePageBytes)),
      location_(properties.location),
      type_(properties.allocType),
      shared_heap_(std::dynamic_pointer_cast<memory::SharedHeap>(heap)),
      imported_heap_(std::dynamic_pointer_cast<memory::ImportedHeap>(heap)) {}

memory::Kind MemoryPool::kind() const {
  if (type_ == CU_MEM_ALLOCATION_TYPE_MANAGED) return memory::Kind::managed;
  return location_.type == CU_MEM_LOCATION_TYPE_DEVICE ? memory::Kind::device : memory::Kind::host;
}

void MemoryPool::get_attribute(CUmemPool_attribute attribute, void* value) const {
  const auto number = [value](std::uint64_t n) { *static_cast<cuuint64_t*>(value) = n; };
  const auto flag = [value](int n) { *static_cast<int*>(value) = n; };
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES: return flag(follow_event_dependencies_);
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC: return flag(allow_opportunistic_);
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: return flag(allow_internal_dependencies_);
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: return number(release_threshold());
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: return number(usage().reserved);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: return number(usage().reserved_high);
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: return number(usage().used);
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: return number(usage().used_high);
    default: throw Failure(CUDA_ERROR_INVALID_VALUE, "no such attribute of a memory pool");
  }
}

void MemoryPool::set_attribute(CUmemPool_attribute attribute, const void* value) {
  const auto number = [value] { return *static_cast<const cuuint64_t*>(value); };
  const auto flag = [value] { return *static_cast<const int*>(value) != 0 ? 1 : 0; };
  const auto require_zero = [&] {
    require(number() == 0, CUDA_ERROR_INVALID_VALUE, "a high-water mark can be set to 0 only");
  };
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES: follow_event_dependencies_ = flag(); return;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC: allow_opportunistic_ = flag(); return;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: allow_internal_dependencies_ = flag(); return;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: set_release_threshold(number()); return;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      require_zero();
      reset_reserved_high();
      return;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      require_zero();
      reset_used_high();
      return;
    default: throw Failure(CUDA_ERROR_INVALID_VALUE, "this attribute of a memory pool can't be set");
  }
}

void MemoryPool::set_access(const CUmemLocation& location, CUmemAccess_flags flags) {
  require(location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_INVALID_VALUE, "access is given to devices");
  require(flags == CU_MEM_ACCESS_FLAGS_PROT_NONE || flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
          CUDA_ERROR_INVALID_VALUE, "access is none, or reading and writing");
  Driver::get().device(location.id);
  const bool own = location_.type == CU_MEM_LOCATION_TYPE_DEVICE && location_.id == location.id;
  require(!own || flags != CU_MEM_ACCESS_FLAGS_PROT_NONE, CUDA_ERROR_INVALID_VALUE,
          "a device keeps access to its own pool");
  const std::scoped_lock lock(access_mutex_);
  device_access_[location.id] = flags;
}

CUmemAccess_flags MemoryPool::access(const CUmemLocation& location) const {
  if (location.type != CU_MEM_LOCATION_TYPE_DEVICE || location_.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return location.type == location_.type || location.type == CU_MEM_LOCATION_TYPE_DEVICE
               ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
               : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  Driver::get().device(location.id);
  if (location.id == location_.id) return CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  const std::scoped_lock lock(access_mutex_);
  const auto it = device_access_.find(location.id);
  return it != device_access_.end() ? it->second : CU_MEM_ACCESS_FLAGS_PROT_NONE;
}

CUdeviceptr allocate_async(MemoryPool& pool, std::size_t bytes, Stream& stream) {
  require(pool.imported_heap() == nullptr, CUDA_ERROR_INVALID_VALUE, "nothing can be allocated from an imported pool");
  bytes = std::max<std::size_t>(bytes, 1);
  std::byte* base = pool.allocate(bytes, stream.id());
  memory::Allocation allocation{.base = base,
                                .size = bytes,
                                .kind = pool.kind(),
                                .device = stream.context().device().ordinal(),
                                .pool = pool.shared_from_this(),
                                .handle_types = pool.handle_types()};
  if (pool.location().type == CU_MEM_LOCATION_TYPE_DEVICE) allocation.device = pool.location().id;
  Driver::get().allocations().insert(std::move(allocation));
  return reinterpret_cast<CUdeviceptr>(base);
}

void free_async(CUdeviceptr pointer, Stream& stream) {
  auto& allocations = Driver::get().allocations();
  std::optional<memory::Allocation> allocation = allocations.find_base(to_pointer(pointer));
  require(
      allocation && allocation->kind != memory::Kind::registered && allocation->freed_by == memory::FreedBy::freeing,
      CUDA_ERROR_INVALID_VALUE, "the pointer is not the start of an allocation");
  require(allocations.erase(allocation->base).has_value(), CUDA_ERROR_INVALID_VALUE, "the memory is freed twice");
  OpRef op;
  if (const auto& pool = allocation->pool)
    op = OpRef(new FreeOp(pool, pool->free(allocation->base, stream.id())));
  else
    op = OpRef(new ReleaseOp(*std::move(allocation)));
  stream.enqueue(*op);
}

void trim_pools() {
  if (!freed_since_trim.load(std::memory_order_acquire) || !freed_since_trim.exchange(false)) return;
  for (const auto& pool : Driver::get().handles().pools.all()) pool->trim_to_threshold();
}

std::shared_ptr<MemoryPool> create_pool(const CUmemPoolProps& properties) {
  Driver& driver = Driver::get();
  const auto make = [&](const std::shared_ptr<memory::Heap>& heap) {
    return std::make_shared<MemoryPool>(shareable_heap(heap, properties), properties);
  };
  if (properties.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED) return make(driver.host_heap());
  require(properties.allocType == CU_MEM_ALLOCATION_TYPE_PINNED, CUDA_ERROR_INVALID_VALUE,
          "no such type of allocation");
  switch (properties.location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE: return make(driver.device(properties.location.id).heap());
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT: return make(driver.host_heap());
    default: throw Failure(CUDA_ERROR_INVALID_VALUE, "no such location for a memory pool");
  }
}

}  // namespace softgpu::runtime
