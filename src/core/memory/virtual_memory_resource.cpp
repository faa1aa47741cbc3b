#include <sched.h>

#include <algorithm>
#include <cuprum/device.hpp>
#include <cuprum/error.hpp>
#include <cuprum/stream.hpp>
#include <cuprum/virtual_memory_resource.hpp>
#include <limits>
#include <map>
#include <mutex>

#include "core/base/deferred.hpp"
#include "core/base/empty_handle.hpp"
#include "core/memory/buffer_resource.hpp"
#include "core/memory/default_memory.hpp"
#include "core/memory/taken_back.hpp"
#include "core/memory/virtual_memory.hpp"
#include "core/stream/default_streams.hpp"
#include "driver/release.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {
namespace {

using core::ContextGuard;
using core::PhysicalMemory;
using core::VirtualRegion;
using detail::Access;
using detail::BufferResource;
using detail::Closable;
using detail::Kept;
using detail::StreamResource;
using driver::Api;
using driver::Doing;
using support::text;

CUmemAccessDesc access_of(const CUmemLocation& location, VirtualMemoryAccessType type) {
  return {location,
          type == VirtualMemoryAccessType::read ? CU_MEM_ACCESS_FLAGS_PROT_READ : CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
}

int numa_node_of_this_thread() {
  unsigned cpu = 0;
  unsigned node = 0;
  return getcpu(&cpu, &node) == 0 ? static_cast<int>(node) : 0;
}

/// Options in the driver's terms.
struct Plan {
  Plan(const Device& device, const VirtualMemoryResourceOptions& the_options);

  bool is_on_host() const { return options.location_type != VirtualMemoryLocationType::device; }
  std::size_t round_up(std::size_t size) const;
  std::size_t alignment() const { return options.addr_align.value_or(granularity); }

  VirtualMemoryResourceOptions options;
  CUmemAllocationProp properties{};
  std::size_t granularity = 0;
  std::vector<CUmemAccessDesc> access;
};

void check_support(const Device& device, const VirtualMemoryResourceOptions& options) {
  const DeviceProperties properties = device.properties();
  auto require = [&](bool supported, const char* what) {
    if (!supported) throw NotSupported(text("VirtualMemoryResource: ", device, " does not support ", what));
  };
  const bool on_host = options.location_type != VirtualMemoryLocationType::device;
  require(properties.virtual_memory_management_supported(), "virtual memory management");
  require(!options.gpu_direct_rdma || on_host || properties.gpu_direct_rdma_supported(), "GPU Direct RDMA");
  if (options.handle_type == VirtualMemoryHandleType::win32_kmt)
    throw NotSupported("VirtualMemoryResource: memory can be exported as win32_kmt on Windows only; use posix_fd");
  if (options.addr_align && (*options.addr_align == 0 || (*options.addr_align & (*options.addr_align - 1)) != 0)) {
    throw InvalidArgument(text("VirtualMemoryResource: addr_align ", *options.addr_align, " is not a power of two"));
  }
}

CUmemLocation location_of(const Device& device, VirtualMemoryLocationType type) {
  switch (type) {
    case VirtualMemoryLocationType::device: return {CU_MEM_LOCATION_TYPE_DEVICE, device.device_id()};
    case VirtualMemoryLocationType::host: return {CU_MEM_LOCATION_TYPE_HOST, 0};
    case VirtualMemoryLocationType::host_numa:
      return {CU_MEM_LOCATION_TYPE_HOST_NUMA, std::max(device.properties().host_numa_id(), 0)};
    case VirtualMemoryLocationType::host_numa_current: break;
  }
  // The driver takes a node's number only.
  return {CU_MEM_LOCATION_TYPE_HOST_NUMA, numa_node_of_this_thread()};
}

// The driver can't export memory of the host as a whole.
CUmemAllocationHandleType handle_type_of(const VirtualMemoryResourceOptions& options) {
  if (!options.handle_type || options.location_type == VirtualMemoryLocationType::host) return CU_MEM_HANDLE_TYPE_NONE;
  return *options.handle_type == VirtualMemoryHandleType::fabric ? CU_MEM_HANDLE_TYPE_FABRIC
                                                                 : CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
}

Plan::Plan(const Device& device, const VirtualMemoryResourceOptions& the_options) : options(the_options) {
  check_support(device, options);
  properties.type = options.allocation_type == VirtualMemoryAllocationType::managed ? CU_MEM_ALLOCATION_TYPE_MANAGED
                                                                                    : CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = location_of(device, options.location_type);
  properties.requestedHandleTypes = handle_type_of(options);
  properties.allocFlags.gpuDirectRDMACapable = options.gpu_direct_rdma;
  if (options.self_access) access.push_back(access_of(properties.location, *options.self_access));
  if (options.peer_access) {
    for (int peer : options.peers)
      access.push_back(access_of({CU_MEM_LOCATION_TYPE_DEVICE, Device(peer).device_id()}, *options.peer_access));
  }
  driver::call<&Api::cuMemGetAllocationGranularity>(
      Doing{[&] { return text("asking for the granularity of virtual memory on ", device); }}, &granularity,
      &properties,
      options.granularity == VirtualMemoryGranularityType::minimum ? CU_MEM_ALLOC_GRANULARITY_MINIMUM
                                                                   : CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
}

std::size_t Plan::round_up(std::size_t size) const {
  if (size > std::numeric_limits<std::size_t>::max() - granularity)
    throw InvalidArgument(text("VirtualMemoryResource: ", size, " bytes are more than there are addresses"));
  return (size + granularity - 1) / granularity * granularity;
}

/// `to`, and no access for those that have some by `from` only.
std::vector<CUmemAccessDesc> change_of_access(const std::vector<CUmemAccessDesc>& from,
                                              const std::vector<CUmemAccessDesc>& to) {
  std::vector<CUmemAccessDesc> change = to;
  for (const CUmemAccessDesc& old : from) {
    const bool stays = std::ranges::any_of(to, [&](const CUmemAccessDesc& access) {
      return access.location.type == old.location.type && access.location.id == old.location.id;
    });
    if (!stays) change.push_back({old.location, CU_MEM_ACCESS_FLAGS_PROT_NONE});
  }
  return change;
}

core::PointerFacts facts_of(const Plan& plan, const Device& device) {
  const bool on_host = plan.is_on_host();
  const bool for_peers = !plan.options.peers.empty() && plan.options.peer_access;
  return {.is_device_accessible = !on_host || for_peers,
          .is_host_accessible = on_host,
          .is_managed = plan.options.allocation_type == VirtualMemoryAllocationType::managed,
          .device = on_host ? std::nullopt : std::optional(device.device_id())};
}

/// Of memory of which a part is one thing and a part another: what holds for all of it.
core::PointerFacts both(const core::PointerFacts& a, const core::PointerFacts& b) {
  return {.is_device_accessible = a.is_device_accessible && b.is_device_accessible,
          .is_host_accessible = a.is_host_accessible && b.is_host_accessible,
          .is_managed = a.is_managed && b.is_managed,
          .device = a.device ? a.device : b.device};
}

/// The memory of one buffer, and what holds for it: the resource's options may have changed since.
struct BufferMemory {
  std::unique_ptr<VirtualRegion> region;
  std::shared_ptr<const Plan> plan;  ///< by whose access rights it can be used
  core::PointerFacts facts;
};

class VirtualMemory final : public MemoryResource::Interface, public core::WaitsBeforeTakingBack {
 public:
  VirtualMemory(const Device& device, const VirtualMemoryResourceOptions& options)
      : device_(device), context_(core::primary_context(device.device_id())), plan_(plan_for(options)) {}
  VirtualMemory(const VirtualMemory&) = delete;
  VirtualMemory& operator=(const VirtualMemory&) = delete;
  ~VirtualMemory() override;

  DevicePointer allocate(std::size_t size, const Stream& stream) override;
  void deallocate(DevicePointer pointer, std::size_t size, const Stream& stream) override;
  // What buffers will be that are allocated from now on.
  bool is_device_accessible() const override { return facts_of(*plan(), device_).is_device_accessible; }
  bool is_host_accessible() const override { return facts_of(*plan(), device_).is_host_accessible; }
  bool is_managed() const override { return facts_of(*plan(), device_).is_managed; }
  std::optional<int> device_id() const override { return facts_of(*plan(), device_).device; }

  /// Without waiting.
  void free(DevicePointer pointer);
  void modify(Closable<BufferResource>& buffer, std::size_t size, const VirtualMemoryResourceOptions* options);
  std::shared_ptr<const Plan> plan() const;

 private:
  void take_back(DevicePointer pointer, std::size_t size, const Kept<StreamResource>& stream) override;
  bool knows(DevicePointer pointer, core::PointerFacts& facts) const override;
  std::shared_ptr<const Plan> plan_for(const VirtualMemoryResourceOptions& options) const;
  BufferMemory remove(DevicePointer pointer);
  BufferMemory& find(DevicePointer pointer);
  BufferMemory& grow(Closable<BufferResource>& buffer, BufferMemory& memory, std::size_t bytes, const Plan& plan);

  const Device device_;
  const core::ContextRecord& context_;  ///< for calls of the driver; virtual memory belongs to no context
  mutable std::mutex mutex_;            ///< guards what follows; what a buffer's region does is the buffer's business
  std::shared_ptr<const Plan> plan_;
  std::map<DevicePointer, BufferMemory> regions_;  ///< by their begin
};

VirtualMemory::~VirtualMemory() {
  ContextGuard guard(context_, std::nothrow);
  regions_.clear();
}

std::shared_ptr<const Plan> VirtualMemory::plan() const {
  std::lock_guard lock(mutex_);
  return plan_;
}

std::shared_ptr<const Plan> VirtualMemory::plan_for(const VirtualMemoryResourceOptions& options) const {
  ContextGuard guard(context_);
  return std::make_shared<const Plan>(device_, options);
}

BufferMemory VirtualMemory::remove(DevicePointer pointer) {
  std::lock_guard lock(mutex_);
  auto node = regions_.extract(pointer);
  if (node) return std::move(node.mapped());
  throw InvalidArgument(text("freeing virtual memory at ", reinterpret_cast<void*>(pointer),
                             ": nothing was allocated there by this memory resource"));
}

bool VirtualMemory::knows(DevicePointer pointer, core::PointerFacts& facts) const {
  std::lock_guard lock(mutex_);
  const auto found = regions_.find(pointer);
  if (found == regions_.end()) return false;
  facts = found->second.facts;
  return true;
}

BufferMemory& VirtualMemory::find(DevicePointer pointer) {
  std::lock_guard lock(mutex_);
  if (auto found = regions_.find(pointer); found != regions_.end()) return found->second;
  throw InvalidArgument(text("modify_allocation: the memory at ", reinterpret_cast<void*>(pointer),
                             " was not allocated by this memory resource"));
}

DevicePointer VirtualMemory::allocate(std::size_t size, const Stream&) {
  ContextGuard guard(context_);
  const std::shared_ptr<const Plan> current = plan();
  auto memory = std::make_shared<const PhysicalMemory>(current->round_up(size), current->properties);
  auto region = std::make_unique<VirtualRegion>(memory->size(), current->alignment(), current->options.addr_hint);
  region->append(std::move(memory), current->access);
  const DevicePointer pointer = region->begin();
  std::lock_guard lock(mutex_);
  regions_.emplace(pointer, BufferMemory{std::move(region), current, facts_of(*current, device_)});
  return pointer;
}

void VirtualMemory::free(DevicePointer pointer) {
  ContextGuard guard(context_);
  remove(pointer);
}

void VirtualMemory::deallocate(DevicePointer pointer, std::size_t, const Stream& stream) {
  stream.sync();
  free(pointer);
}

void VirtualMemory::take_back(DevicePointer pointer, std::size_t, const Kept<StreamResource>& stream) {
  if (ContextGuard guard(stream->context(), std::nothrow); guard.entered())
    driver::release<&Api::cuStreamSynchronize>(stream->handle);
  if (ContextGuard guard(context_, std::nothrow); guard.entered()) remove(pointer);
}

/// Returns where the memory is known by then.
BufferMemory& VirtualMemory::grow(Closable<BufferResource>& buffer, BufferMemory& memory, std::size_t bytes,
                                  const Plan& plan) {
  VirtualRegion& region = *memory.region;
  auto more = std::make_shared<const PhysicalMemory>(bytes, plan.properties);
  if (region.grow_in_place(more, plan.alignment(), plan.access)) return memory;

  // The old memory is mapped a second time: until all has worked out, it stays where it was, too.
  auto larger = std::make_unique<VirtualRegion>(region.size() + bytes, plan.alignment(), 0);
  larger->append_all(region, plan.access);
  larger->append(std::move(more), plan.access);
  core::handle_of(core::reachable(buffer.resource.freed_on())).sync();
  const DevicePointer before = buffer.resource.pointer;
  const DevicePointer pointer = larger->begin();
  BufferMemory* moved = nullptr;
  {
    std::lock_guard lock(mutex_);
    moved = &regions_.emplace(pointer, BufferMemory{std::move(larger), memory.plan, memory.facts}).first->second;
  }
  detail::move_buffer(buffer, pointer);
  remove(before);
  return *moved;
}

void VirtualMemory::modify(Closable<BufferResource>& buffer, std::size_t size,
                           const VirtualMemoryResourceOptions* options) {
  ContextGuard guard(context_);
  BufferMemory& memory = find(buffer.resource.pointer);
  VirtualRegion& region = *memory.region;
  const std::shared_ptr<const Plan> before = memory.plan;
  const std::shared_ptr<const Plan> after = options ? plan_for(*options) : plan();
  const std::size_t needed = size > region.size() ? after->round_up(size - region.size()) : 0;
  const std::vector<CUmemAccessDesc> back = change_of_access(after->access, before->access);
  region.change_access(back, change_of_access(before->access, after->access));
  BufferMemory* changed = &memory;
  try {
    if (needed) changed = &grow(buffer, memory, needed, *after);
  } catch (...) {
    region.restore_access(back);
    throw;
  }
  buffer.resource.size = std::max(buffer.resource.size, size);
  std::lock_guard lock(mutex_);
  if (needed) changed->facts = both(changed->facts, facts_of(*after, device_));
  changed->plan = plan_ = after;
}

VirtualMemory& memory_of(const MemoryResource& resource) {
  return static_cast<VirtualMemory&>(*core::not_empty(resource.implementation(), "memory resource"));
}

Buffer modify(const MemoryResource& resource, const Buffer& buffer, std::size_t size,
              const VirtualMemoryResourceOptions* options) {
  const Kept<BufferResource> held = Access::keep(buffer);
  if (held->memory != resource.implementation())
    throw InvalidArgument(text("modify_allocation: ", buffer, " is not from this memory resource"));
  if (held->whole) throw WrongState(text("modify_allocation: ", buffer, " is a part: let the whole grow"));
  if (!held->pointer) throw InvalidArgument("modify_allocation: a buffer of size 0 has no memory that could grow");
  memory_of(resource).modify(held.shared(), size, options);
  return buffer;
}

}  // namespace

bool VirtualMemoryResource::is_kind_of(const MemoryResource& resource) {
  return dynamic_cast<const VirtualMemory*>(resource.implementation().get()) != nullptr;
}

VirtualMemoryResource::VirtualMemoryResource(const Device& device, const VirtualMemoryResourceOptions& options)
    : MemoryResource(core::make_deferrable<VirtualMemory>(device, options)) {}

Buffer VirtualMemoryResource::allocate(std::size_t size) const {
  return allocate(size, core::default_stream_of(*this));
}

void VirtualMemoryResource::deallocate(DevicePointer pointer, std::size_t) const {
  if (pointer) memory_of(*this).free(pointer);
}

Buffer VirtualMemoryResource::modify_allocation(const Buffer& buffer, std::size_t new_size) const {
  return modify(*this, buffer, new_size, nullptr);
}

Buffer VirtualMemoryResource::modify_allocation(const Buffer& buffer, std::size_t new_size,
                                                const VirtualMemoryResourceOptions& options) const {
  return modify(*this, buffer, new_size, &options);
}

std::size_t VirtualMemoryResource::granularity() const { return memory_of(*this).plan()->granularity; }

VirtualMemoryResourceOptions VirtualMemoryResource::options() const { return memory_of(*this).plan()->options; }

}  // namespace cuprum::inline CUPRUM_ABI
