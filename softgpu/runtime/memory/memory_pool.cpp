#include "softgpu/runtime/memory/memory_pool.hpp"

#include <algorithm>
#include <optional>

#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/base/location.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"
#include "softgpu/runtime/work/context.hpp"

namespace softgpu::runtime {
namespace {

std::atomic<bool> freed_since_trim{false};

class FreeOp final : public Op {
 public:
  FreeOp(std::shared_ptr<memory::OrderedPool> pool, memory::OrderedPool::Ticket ticket)
      : pool_(std::move(pool)), ticket_(ticket) {}

 protected:
  void run() override {
    pool_->reached(ticket_);
    pool_.reset();
    freed_since_trim.store(true, std::memory_order_release);
    finish();
  }

 private:
  std::shared_ptr<memory::OrderedPool> pool_;
  const memory::OrderedPool::Ticket ticket_;
};

// What a pool asks of the stream that allocates.
class StreamClient final : public memory::OrderedPool::Client {
 public:
  explicit StreamClient(const Stream& stream) : stream_(stream) {}
  memory::OrderedPool::Stream stream() const override { return stream_.id(); }
  bool comes_after(memory::OrderedPool::Stream other, memory::OrderedPool::Position position) const override {
    return stream_.comes_after(other, position);
  }
  void wait_for(void* free) override { awaited_ = OpRef(static_cast<Op*>(free)); }

  const OpRef& awaited() const { return awaited_; }

 private:
  const Stream& stream_;
  OpRef awaited_;
};

class ReleaseOp final : public Op {
 public:
  ReleaseOp(MemoryServices& services, memory::Allocation allocation)
      : services_(services), allocation_(std::move(allocation)) {}

 protected:
  void run() override {
    release(services_, allocation_);
    finish();
  }

 private:
  MemoryServices& services_;
  const memory::Allocation allocation_;
};

}  // namespace

MemoryPool::MemoryPool(const Devices& devices, std::shared_ptr<memory::Heap> heap, const CUmemPoolProps& properties)
    : OrderedPool(heap, memory::round_up(properties.maxSize, memory::kHugePageBytes)),
      devices_(devices),
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
  const auto flag = [value](bool set) { *static_cast<int*>(value) = set ? 1 : 0; };
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES: return flag(reuse_rules().follow_event_dependencies);
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC: return flag(reuse_rules().opportunistic);
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: return flag(reuse_rules().internal_dependencies);
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
  const auto set_rule = [&](bool memory::ReuseRules::* rule) {
    set_reuse_rule(rule, *static_cast<const int*>(value) != 0);
  };
  const auto require_zero = [&] {
    require(number() == 0, CUDA_ERROR_INVALID_VALUE, "a high-water mark can be set to 0 only");
  };
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
      return set_rule(&memory::ReuseRules::follow_event_dependencies);
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC: return set_rule(&memory::ReuseRules::opportunistic);
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: return set_rule(&memory::ReuseRules::internal_dependencies);
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

void MemoryPool::check_access(const CUmemLocation& location, CUmemAccess_flags flags) const {
  require(location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_INVALID_VALUE, "access is given to devices");
  require(flags == CU_MEM_ACCESS_FLAGS_PROT_NONE || flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
          CUDA_ERROR_INVALID_VALUE, "access is none, or reading and writing");
  devices_.at(location.id);
  const bool own = location_.type == CU_MEM_LOCATION_TYPE_DEVICE && location_.id == location.id;
  require(!own || flags != CU_MEM_ACCESS_FLAGS_PROT_NONE, CUDA_ERROR_INVALID_VALUE,
          "a device keeps access to its own pool");
}

void MemoryPool::set_access(std::span<const CUmemAccessDesc> accesses) {
  for (const CUmemAccessDesc& access : accesses) check_access(access.location, access.flags);
  const std::scoped_lock lock(access_mutex_);
  for (const CUmemAccessDesc& access : accesses) device_access_[access.location.id] = access.flags;
}

CUmemAccess_flags MemoryPool::access(const CUmemLocation& location) const {
  const bool to_device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  if (!to_device)
    return location.type == location_.type ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  devices_.at(location.id);
  if (type_ == CU_MEM_ALLOCATION_TYPE_MANAGED || location == location_) return CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  const std::scoped_lock lock(access_mutex_);
  const auto it = device_access_.find(location.id);
  return it != device_access_.end() ? it->second : CU_MEM_ACCESS_FLAGS_PROT_NONE;
}

CUdeviceptr allocate_async(MemoryServices& services, MemoryPool& pool, std::size_t bytes, Stream& stream) {
  require(pool.imported_heap() == nullptr, CUDA_ERROR_INVALID_VALUE, "nothing can be allocated from an imported pool");
  stream.require_uncaptured();
  bytes = std::max<std::size_t>(bytes, 1);
  StreamClient client(stream);
  std::byte* base = with_reclaiming(services, [&] { return pool.allocate(bytes, client); });
  if (client.awaited()) {
    const OpRef join(new MarkerOp);
    stream.enqueue(*join, &*client.awaited());
  }
  memory::Allocation allocation{.base = base,
                                .size = bytes,
                                .kind = pool.kind(),
                                .device = stream.context().device().ordinal(),
                                .pool = pool.shared_from_this(),
                                .handle_types = pool.handle_types()};
  if (pool.location().type == CU_MEM_LOCATION_TYPE_DEVICE) allocation.device = pool.location().id;
  if (allocation.kind == memory::Kind::managed)
    services.managed_pages.update(
        base, bytes, [&](PageAdvice& page) { page = {.preferred = pool.location(), .last_prefetch = {}}; });
  services.allocations.insert(std::move(allocation));
  return reinterpret_cast<CUdeviceptr>(base);
}

void free_async(MemoryServices& services, CUdeviceptr pointer, Stream& stream) {
  stream.require_uncaptured();
  memory::AllocationTable& allocations = services.allocations;
  std::optional<memory::Allocation> allocation = allocations.find_base(to_pointer(pointer));
  require(
      allocation && allocation->kind != memory::Kind::registered && allocation->freed_by == memory::FreedBy::freeing,
      CUDA_ERROR_INVALID_VALUE, "the pointer is not the start of an allocation");
  require(allocations.erase(allocation->base).has_value(), CUDA_ERROR_INVALID_VALUE, "the memory is freed twice");
  if (const auto& pool = allocation->pool) {
    const memory::OrderedPool::Ticket ticket = pool->free(allocation->base, stream.id());
    const OpRef op(new FreeOp(pool, ticket));
    const std::uint64_t position = stream.enqueue(*op);
    pool->place(ticket, position, &*op);
  } else {
    const OpRef op(new ReleaseOp(services, *std::move(allocation)));
    stream.enqueue(*op);
  }
}

void trim_pools(const MemoryServices& services) {
  if (!freed_since_trim.load(std::memory_order_acquire) || !freed_since_trim.exchange(false)) return;
  for (const auto& pool : services.pools.all()) pool->trim_to_threshold();
}

void reclaim_memory(const MemoryServices& services) {
  for (const auto& pool : services.pools.all()) pool->trim(0);
  for (const auto& reclaim : services.reclaimers) reclaim();
}

}  // namespace softgpu::runtime
