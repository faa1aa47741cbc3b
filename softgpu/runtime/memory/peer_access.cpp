#include "softgpu/runtime/memory/peer_access.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>

#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/base/location.hpp"
#include "softgpu/runtime/memory/memory_pool.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"
#include "softgpu/runtime/work/context.hpp"

namespace softgpu::runtime {
namespace {

bool may_use(const MemoryServices& services, const Context& context, const memory::Owner& owner) {
  if (owner.device == context.device().ordinal()) return true;
  const CUmemLocation location = location_of_device(context.device().ordinal());
  if (owner.pool != nullptr)
    return static_cast<const MemoryPool&>(*owner.pool).access(location) != CU_MEM_ACCESS_FLAGS_PROT_NONE;
  if (owner.mapping != nullptr)
    return services.mapping_access(owner.mapping, location) != CU_MEM_ACCESS_FLAGS_PROT_NONE;
  return owner.context == 0 || context.has_peer(owner.context);
}

// Whether a kernel that was given this address can't but stay within memory that it may use, as long as it stays within
// the allocation. An address that is in none may be made one by a distance: that of element 0 of an array whose first
// is element 1, say.
bool is_safe_to_give(const MemoryServices& services, const Context& context, const std::byte* address) {
  for (const std::byte* place : {address, address - 1}) {  // or the end of an array
    const auto extent = services.allocations.extent(place);
    if (!extent) continue;
    if (extent->kind != memory::Kind::device || extent->device == context.device().ordinal()) return true;
    const auto allocation = services.allocations.find(place);
    return !allocation || may_use(services, context, *allocation);
  }
  return false;
}

class CheckedAccess final : public exec::MemoryAccess {
 public:
  CheckedAccess(const MemoryServices& services, std::shared_ptr<const Context> context)
      : services_(services), context_(std::move(context)) {}

  int owner_if_denied(const void* address, exec::PermittedMemory& known) const noexcept override {
    if (!services_.space.contains(address)) return -1;
    const auto number = reinterpret_cast<std::uintptr_t>(address);
    const std::uint64_t changes = services_.allocations.changes();
    if (known.as_of != changes) known = {.as_of = changes};
    exec::PermittedMemory::Range& range = known.range_for(number);
    return range.contains(number) ? -1 : look_up(address, range);
  }

 private:
  int look_up(const void* address, exec::PermittedMemory::Range& range) const noexcept {
    try {
      const auto found = services_.allocations.find(address);
      if (!found) return -1;
      if (!may_use(services_, *context_, *found)) return found->device;
      const auto begin = reinterpret_cast<std::uintptr_t>(found->base);
      range = {begin, begin + found->size};
    } catch (const std::exception&) {
      // freed meanwhile
    }
    return -1;
  }

  const MemoryServices& services_;
  const std::shared_ptr<const Context> context_;
};

bool finds_denied_memory(const MemoryServices& services, const Context& context) {
  for (const memory::Owner& owner : services.allocations.owners()) try {
      if (!may_use(services, context, owner)) return true;
    } catch (const std::exception&) {
      // unmapped meanwhile
    }
  return false;
}

// Whether there is any memory that the context may not use. Launches ask, so the answer is kept.
bool is_denied_memory(const MemoryServices& services, const Context& context) {
  const std::uint64_t changes = services.allocations.changes();
  std::atomic<std::uint64_t>& note = context.note_of_denied_memory();  // changes * 2 + whether there is
  const std::uint64_t noted = note.load(std::memory_order_relaxed);
  if (noted / 2 == changes) return noted % 2 != 0;
  const bool is_denied = finds_denied_memory(services, context);
  note.store(changes * 2 + (is_denied ? 1 : 0), std::memory_order_relaxed);
  return is_denied;
}

bool is_unsafe_address(const MemoryServices& services, const Context& context, std::span<const std::byte> arguments) {
  for (std::size_t offset = 0; offset + sizeof(void*) <= arguments.size(); offset += sizeof(void*)) {
    const std::byte* word = nullptr;
    std::memcpy(&word, arguments.data() + offset, sizeof word);
    if (services.space.contains(word) && !is_safe_to_give(services, context, word)) return true;
  }
  return false;
}

}  // namespace

bool may_use(const MemoryServices& services, const Context& context, const memory::Allocation& allocation) {
  return allocation.kind != memory::Kind::device || may_use(services, context, owner_of(allocation));
}

std::shared_ptr<const exec::MemoryAccess> access_to_check(const MemoryServices& services,
                                                          const std::shared_ptr<const Context>& context,
                                                          std::span<const std::byte> arguments, bool finds_addresses) {
  if (services.devices.count() == 1 || !is_denied_memory(services, *context)) return nullptr;
  if (!finds_addresses && !is_unsafe_address(services, *context, arguments)) return nullptr;
  return std::make_shared<CheckedAccess>(services, context);
}

}  // namespace softgpu::runtime
