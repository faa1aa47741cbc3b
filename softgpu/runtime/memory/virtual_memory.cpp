#include "softgpu/runtime/memory/virtual_memory.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include "softgpu/runtime/base/devices.hpp"
#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/memory/access_flags.hpp"
#include "softgpu/runtime/work/work_services.hpp"

namespace softgpu::runtime {
namespace {

using memory::Access;
using memory::Allocation;

using memory::Rights;

// What a mapping's pages are.
class Mapping final : public memory::Backing {
 public:
  explicit Mapping(std::shared_ptr<PhysicalMemory> memory) : memory_(std::move(memory)) {}

  const std::shared_ptr<PhysicalMemory>& memory() const { return memory_; }

 private:
  const std::shared_ptr<PhysicalMemory> memory_;
};

const std::shared_ptr<PhysicalMemory>& memory_of(const Allocation& mapping) {
  return static_cast<const Mapping&>(*mapping.backing).memory();
}

// Who a location is, among those that can have rights to memory that is on a device or on the host.
int holder(const Devices& devices, const CUmemLocation& location, bool on_device) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      require(location.id >= 0 && location.id < devices.count(), CUDA_ERROR_INVALID_VALUE, "no such device for access");
      return location.id;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      require(!on_device, CUDA_ERROR_NOT_SUPPORTED, "the host can't be given access to a device's memory");
      return Rights::kHost;
    default: throw Failure(CUDA_ERROR_INVALID_VALUE, "no such location for access");
  }
}

struct Grant {
  int who;
  Access access;
};

std::vector<Grant> checked(const Devices& devices, std::span<const CUmemAccessDesc> access,
                           const std::vector<Allocation>& mappings) {
  std::vector<Grant> grants;
  for (const CUmemAccessDesc& entry : access) {
    require(entry.flags == CU_MEM_ACCESS_FLAGS_PROT_NONE || entry.flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
                entry.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
            CUDA_ERROR_INVALID_VALUE, "access is none, reading, or reading and writing");
    for (const Allocation& mapping : mappings)
      grants.push_back({holder(devices, entry.location, memory_of(mapping)->on_device()), access_from(entry.flags)});
  }
  return grants;
}

bool takes_something(const std::vector<Grant>& grants, const Allocation& mapping) {
  return std::any_of(grants.begin(), grants.end(),
                     [&](const Grant& grant) { return grant.access < mapping.rights.of(grant.who); });
}

Rights rights_after(const std::vector<Grant>& grants, const Allocation& mapping) {
  Rights rights = mapping.rights;
  for (const Grant& grant : grants) rights.set(grant.who, grant.access);
  return rights;
}

void require_multiple(std::size_t value, const char* message) {
  require(value % memory::kHugePageBytes == 0, CUDA_ERROR_INVALID_VALUE, message);
}

}  // namespace

// For all that is under way. Others must be able to go on meanwhile: the work may depend on what they do.
void VirtualMemory::wait_without(std::unique_lock<std::mutex>& lock) const {
  lock.unlock();
  work_.wait_for_all_contexts();
  lock.lock();
}

std::byte* VirtualMemory::reserve(std::size_t bytes, std::size_t alignment, std::byte* hint) {
  require(bytes != 0, CUDA_ERROR_INVALID_VALUE, "an empty range");
  require_multiple(bytes, "the size is not a multiple of the granularity");
  require(alignment == 0 || std::has_single_bit(alignment), CUDA_ERROR_INVALID_VALUE,
          "the alignment is not a power of two");
  require(reinterpret_cast<std::uintptr_t>(hint) % memory::kPageBytes == 0, CUDA_ERROR_INVALID_VALUE,
          "the address is not a multiple of the page size");
  const std::scoped_lock lock(mutex_);
  std::byte* base = space_.reserve(bytes, std::max(alignment, memory::kHugePageBytes), hint);
  reserved_.emplace(base, bytes);
  return base;
}

void VirtualMemory::free(std::byte* base, std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  const auto it = reserved_.find(base);
  require(it != reserved_.end() && it->second == bytes, CUDA_ERROR_INVALID_VALUE, "not a range that was reserved");
  require(!allocations_.any_in(base, bytes), CUDA_ERROR_INVALID_VALUE, "memory is mapped to the range");
  reserved_.erase(it);
  space_.release(base, bytes);
}

void VirtualMemory::require_reserved(const std::byte* base, std::size_t bytes) const {
  const auto behind = reserved_.upper_bound(base);
  require(behind != reserved_.begin(), CUDA_ERROR_INVALID_VALUE, "the addresses are not reserved");
  const auto& [first, size] = *std::prev(behind);
  const auto skipped = static_cast<std::size_t>(base - first);
  require(skipped < size && bytes <= size - skipped, CUDA_ERROR_INVALID_VALUE, "the addresses are not reserved");
}

void VirtualMemory::map(std::byte* base, std::size_t bytes, std::size_t offset,
                        const std::shared_ptr<PhysicalMemory>& memory) {
  require(bytes != 0, CUDA_ERROR_INVALID_VALUE, "an empty range");
  require(offset == 0 && bytes == memory->bytes(), CUDA_ERROR_NOT_SUPPORTED, "memory is mapped as a whole");
  require_multiple(reinterpret_cast<std::uintptr_t>(base), "the address is not a multiple of the granularity");
  const std::scoped_lock lock(mutex_);
  require_reserved(base, bytes);
  const CUmemAllocationProp properties = memory->properties();
  const bool added = allocations_.insert({.base = base,
                                          .size = bytes,
                                          .kind = memory->on_device() ? memory::Kind::device : memory::Kind::host,
                                          .device = memory->on_device() ? properties.location.id : 0,
                                          .freed_by = memory::FreedBy::unmapping,
                                          .rights = {},
                                          .backing = std::make_shared<Mapping>(memory),
                                          .handle_types = static_cast<unsigned>(properties.requestedHandleTypes)});
  require(added, CUDA_ERROR_INVALID_VALUE, "memory is mapped to the range already");
  try {
    memory->file().map_at(base, offset, bytes, Access::none);
  } catch (...) {
    allocations_.erase(base);
    throw;
  }
}

// Exactly those that make up the range.
std::vector<Allocation> VirtualMemory::mappings_in(const std::byte* base, std::size_t bytes) const {
  require(bytes != 0, CUDA_ERROR_INVALID_VALUE, "an empty range");
  std::vector<Allocation> mappings;
  for (std::size_t done = 0; done < bytes; done += mappings.back().size) {
    auto found = allocations_.find_base(base + done);
    require(found && found->freed_by == memory::FreedBy::unmapping && found->size <= bytes - done,
            CUDA_ERROR_INVALID_VALUE, "the range is not one of whole mappings");
    mappings.push_back(*std::move(found));
  }
  return mappings;
}

// Those in the range, each whole. Nothing has to be mapped to the rest, which has to be reserved.
std::vector<Allocation> VirtualMemory::mappings_among(const std::byte* base, std::size_t bytes) const {
  require(bytes != 0, CUDA_ERROR_INVALID_VALUE, "an empty range");
  require_multiple(reinterpret_cast<std::uintptr_t>(base), "the address is not a multiple of the granularity");
  require_multiple(bytes, "the size is not a multiple of the granularity");
  std::vector<Allocation> mappings;
  for (std::size_t done = 0; done < bytes;) {
    require_reserved(base + done, memory::kHugePageBytes);
    auto found = allocations_.find(base + done);
    if (!found) {
      done += memory::kHugePageBytes;
      continue;
    }
    require(found->base == base + done && found->size <= bytes - done, CUDA_ERROR_INVALID_VALUE,
            "the range has a part of a mapping");
    done += found->size;
    mappings.push_back(*std::move(found));
  }
  return mappings;
}

void VirtualMemory::unmap(std::byte* base, std::size_t bytes) {
  std::unique_lock lock(mutex_);
  mappings_among(base, bytes);
  wait_without(lock);
  const std::vector<Allocation> mappings = mappings_among(base, bytes);
  require(memory::AddressSpace::make_inaccessible(base, bytes), CUDA_ERROR_OUT_OF_MEMORY,
          "the process has too many mappings");
  for (const Allocation& mapping : mappings) allocations_.erase(mapping.base);
}

void VirtualMemory::set_access(std::byte* base, std::size_t bytes, std::span<const CUmemAccessDesc> access) {
  std::unique_lock lock(mutex_);
  std::vector<Allocation> mappings = mappings_in(base, bytes);
  const std::vector<Grant> grants = checked(devices_, access, mappings);
  if (std::any_of(mappings.begin(), mappings.end(), [&](const auto& one) { return takes_something(grants, one); })) {
    wait_without(lock);
    mappings = mappings_in(base, bytes);
  }
  for (const Allocation& mapping : mappings) {
    const Rights after = rights_after(grants, mapping);
    require(memory::protect(mapping.base, mapping.size, after.strongest()), CUDA_ERROR_OUT_OF_MEMORY,
            "the process has too many mappings");
    allocations_.set_rights(mapping.base, after);
  }
}

CUmemAccess_flags VirtualMemory::access(const std::byte* pointer, const CUmemLocation& location) const {
  const std::scoped_lock lock(mutex_);
  const auto found = allocations_.find(pointer);
  require(found && found->freed_by == memory::FreedBy::unmapping, CUDA_ERROR_INVALID_VALUE,
          "nothing is mapped to the address");
  return flags_of(found->rights.of(holder(devices_, location, memory_of(*found)->on_device())));
}

std::shared_ptr<PhysicalMemory> VirtualMemory::mapped_at(const std::byte* pointer) const {
  const auto found = allocations_.find(pointer);
  require(found && found->freed_by == memory::FreedBy::unmapping, CUDA_ERROR_INVALID_VALUE,
          "nothing is mapped to the address");
  return memory_of(*found);
}

}  // namespace softgpu::runtime
