#include "softgpu/runtime/graphs/graph_memory.hpp"

#include <algorithm>

#include "softgpu/memory/pages.hpp"
#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/memory/create_pool.hpp"
#include "softgpu/runtime/memory/memory_operations.hpp"
#include "softgpu/runtime/memory/memory_pool.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"
#include "softgpu/runtime/work/stream.hpp"

namespace softgpu::runtime {
namespace {

CUmemPoolProps checked(CUmemPoolProps properties, const Devices& devices) {
  properties.location = pool_location(properties.location, properties.allocType, devices);
  require(properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_INVALID_VALUE,
          "graphs allocate memory of a device");
  require(properties.handleTypes == CU_MEM_HANDLE_TYPE_NONE, CUDA_ERROR_INVALID_VALUE,
          "a graph's memory can't be shared with other processes");
  return properties;
}

bool is_managed(const CUmemPoolProps& properties) { return properties.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED; }

}  // namespace

GraphAllocation::GraphAllocation(MemoryServices& services, const CUmemPoolProps& properties,
                                 std::span<const CUmemAccessDesc> accesses, std::size_t bytes)
    : services_(services),
      properties_(properties),
      accesses_(accesses.begin(), accesses.end()),
      bytes_(bytes),
      heap_(is_managed(properties) ? services.host_heap : services.heap_of(properties.location)),
      base_(services.space.map(bytes)) {
  services_.allocations.insert({.base = base_,
                                .size = bytes,
                                .kind = is_managed(properties) ? memory::Kind::managed : memory::Kind::device,
                                .device = properties.location.id,
                                .freed_by = memory::FreedBy::graph});
}

GraphAllocation::~GraphAllocation() {
  if (is_managed(properties_)) services_.managed_pages.forget(base_, bytes_);
  services_.allocations.erase(base_);
  services_.space.unmap(base_, bytes_);
}

CUdeviceptr GraphAllocation::address() const { return to_device(base_); }

std::shared_ptr<GraphAllocation> GraphMemory::reserve(const CUmemPoolProps& properties,
                                                      std::span<const CUmemAccessDesc> accesses, std::size_t bytes) {
  for (const CUmemAccessDesc& access : accesses) {
    require(access.location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_INVALID_VALUE,
            "access is given to devices");
    services_.devices.at(access.location.id);
  }
  auto allocation = std::make_shared<GraphAllocation>(services_, checked(properties, services_.devices), accesses,
                                                      std::max<std::size_t>(bytes, 1));
  const std::scoped_lock lock(mutex_);
  allocations_[allocation->address()] = allocation;
  return allocation;
}

std::shared_ptr<GraphAllocation> GraphMemory::find(CUdeviceptr address) const {
  const std::scoped_lock lock(mutex_);
  const auto it = allocations_.find(address);
  return it != allocations_.end() ? it->second.lock() : nullptr;
}

void GraphMemory::add_free(GraphAllocation& allocation, bool inside) {
  const std::scoped_lock lock(mutex_);
  require(!allocation.freed_inside_, CUDA_ERROR_INVALID_VALUE, "the graph that allocates the memory also frees it");
  allocation.freed_inside_ = inside;
}

void GraphMemory::add_instance(Allocations allocations) {
  const std::scoped_lock lock(mutex_);
  for (const auto& allocation : allocations)
    require(!allocation->instantiated_, CUDA_ERROR_INVALID_VALUE,
            "a graph that allocates memory can be instantiated once at a time");
  for (const auto& allocation : allocations) {
    allocation->instantiated_ = true;
    if (allocation->resident_) --abandoned_;
  }
}

void GraphMemory::remove_instance(Allocations allocations) {
  Kept gone;
  const std::scoped_lock lock(mutex_);
  for (const auto& allocation : allocations) {
    allocation->instantiated_ = false;
    if (allocation->resident_) ++abandoned_;
  }
  gone = take_abandoned();
}

GraphMemory::Reserve& GraphMemory::reserve_for(const GraphAllocation& allocation) {
  std::vector<Reserve>& reserves = reserves_[allocation.properties_.location.id];
  const auto is_its = [&](const Reserve& reserve) { return reserve.heap == allocation.heap_; };
  const auto found = std::find_if(reserves.begin(), reserves.end(), is_its);
  return found != reserves.end() ? *found : reserves.emplace_back(allocation.heap_);
}

void GraphMemory::charge(const std::shared_ptr<GraphAllocation>& allocation) {
  const std::size_t bytes = allocation->reserved_bytes();
  Reserve& reserve = reserve_for(*allocation);
  const std::size_t reused = std::min(reserve.bytes, bytes);
  allocation->heap_->charge(bytes - reused);
  reserve.bytes -= reused;
  allocation->heap_->add(*allocation);
  allocation->resident_ = true;
  if (!allocation->instantiated_) ++abandoned_;
  resident_.push_back(allocation);
  GraphMemoryUsage& usage = usage_[allocation->properties_.location.id];
  usage.bytes += bytes - reused;
  usage.used_high = std::max(usage.used_high, usage.bytes);
  usage.reserved_high = std::max(usage.reserved_high, usage.bytes);
}

void GraphMemory::make_resident(Allocations allocations) {
  const auto charge_all = [&] {
    Kept gone;
    const std::scoped_lock lock(mutex_);
    for (const auto& allocation : allocations) {
      if (allocation->resident_) continue;
      if (gone.empty()) gone = take_abandoned();
      charge(allocation);
    }
  };
  with_reclaiming(services_, charge_all);
}

void GraphMemory::launch(Allocations allocates, Allocations frees, Unfreed unfreed) {
  make_resident(allocates);
  const std::scoped_lock lock(mutex_);
  const auto is_allocated_here = [&](const auto& allocation) {
    return std::find(allocates.begin(), allocates.end(), allocation) != allocates.end();
  };
  for (const auto& allocation : allocates)
    require(!allocation->allocated_ || unfreed == Unfreed::freed, CUDA_ERROR_INVALID_VALUE,
            "memory that the graph allocates has not been freed since its last launch");
  for (const auto& allocation : frees)
    require(allocation->allocated_ || is_allocated_here(allocation), CUDA_ERROR_INVALID_VALUE,
            "the graph frees memory that is not allocated");
  for (const auto& allocation : allocates) allocation->allocated_ = true;
  for (const auto& allocation : frees) allocation->allocated_ = false;
}

void GraphMemory::set_last_use(Allocations allocations, const OpRef& end) {
  const std::scoped_lock lock(mutex_);
  for (const auto& allocation : allocations) allocation->last_use_ = end;
}

bool GraphMemory::free(CUdeviceptr address, Stream* stream) {
  const auto allocation = find(address);
  if (allocation == nullptr) return false;
  {
    const std::scoped_lock lock(mutex_);
    require(allocation->allocated_, CUDA_ERROR_INVALID_VALUE, "the graph's memory is not allocated now");
    allocation->allocated_ = false;
  }
  if (stream != nullptr) {
    const OpRef end(new MarkerOp);
    stream->enqueue(*end);
    set_last_use({&allocation, 1}, end);
  }
  return true;
}

GraphMemoryUsage GraphMemory::usage(int device) const {
  const std::scoped_lock lock(mutex_);
  const auto it = usage_.find(device);
  return it != usage_.end() ? it->second : GraphMemoryUsage{};
}

void GraphMemory::reset_used_high(int device) {
  const std::scoped_lock lock(mutex_);
  usage_[device].used_high = usage_[device].bytes;
}

void GraphMemory::reset_reserved_high(int device) {
  const std::scoped_lock lock(mutex_);
  usage_[device].reserved_high = usage_[device].bytes;
}

template <typename Condition>
GraphMemory::Kept GraphMemory::take_if(Condition condition) {
  const auto stays = [&](const auto& allocation) { return allocation->is_in_use() || !condition(*allocation); };
  const auto first = std::stable_partition(resident_.begin(), resident_.end(), stays);
  Kept taken(std::make_move_iterator(first), std::make_move_iterator(resident_.end()));
  resident_.erase(first, resident_.end());
  for (const auto& allocation : taken) {
    memory::discard_pages(allocation->base_, allocation->reserved_bytes());
    allocation->heap_->remove(*allocation);
    allocation->resident_ = false;
    if (!allocation->instantiated_) --abandoned_;
    reserve_for(*allocation).bytes += allocation->reserved_bytes();
  }
  return taken;
}

GraphMemory::Kept GraphMemory::take_abandoned() {
  if (abandoned_ == 0) return {};
  return take_if([](const GraphAllocation& allocation) { return !allocation.instantiated_; });
}

void GraphMemory::trim(int device) {
  Kept trimmed;
  const std::scoped_lock lock(mutex_);
  trimmed = take_if([&](const GraphAllocation& allocation) { return allocation.properties_.location.id == device; });
  for (Reserve& reserve : reserves_[device]) {
    reserve.heap->refund(reserve.bytes);
    usage_[device].bytes -= reserve.bytes;
    reserve.bytes = 0;
  }
  std::erase_if(allocations_, [](const auto& entry) { return entry.second.expired(); });
}

void GraphMemory::trim_all() {
  for (int device = 0; device < services_.devices.count(); ++device) trim(device);
}

}  // namespace softgpu::runtime
