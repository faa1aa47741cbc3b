#include "softgpu/runtime/memory/peer_access.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>

#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/base/location.hpp"
#include "softgpu/runtime/memory/access_flags.hpp"
#include "softgpu/runtime/memory/memory_pool.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"
#include "softgpu/runtime/work/context.hpp"

namespace softgpu::runtime {
namespace {

using memory::Access;

Access access_of(const Context& context, const memory::Owner& owner) {
  const int device = context.device().ordinal();
  if (owner.pool != nullptr)
    return access_from(static_cast<const MemoryPool&>(*owner.pool).access(location_of_device(device)));
  if (owner.mapped) return owner.mapped->of(device);
  const bool may_use = owner.device == device || owner.context == 0 || context.has_peer(owner.context);
  return may_use ? Access::read_write : Access::none;
}

// Whether the context's device may do less than the pages allow, where the system sees nothing wrong.
bool is_denied(const Context& context, const memory::Rights& rights) {
  return rights.of(context.device().ordinal()) < rights.strongest();
}
bool is_denied(const Context& context, const memory::Owner& owner) {
  return owner.mapped ? is_denied(context, *owner.mapped) : access_of(context, owner) != Access::read_write;
}

// Whether a kernel that was given this address can't but stay within memory that it may use, as long as it stays within
// the allocation, or the row of mappings. An address that is in none may be made one by a distance: that of element 0
// of an array whose first is element 1, say.
bool is_safe_to_give(const MemoryServices& services, const Context& context, const std::byte* address) {
  const memory::AllocationTable& allocations = services.allocations;
  for (const std::byte* place : {address, address - 1}) {  // or the end of an array
    const auto extent = allocations.extent(place, 1);
    if (!extent) continue;
    if (extent->mapped)
      return !allocations.any_mapped_in_row(place, [&](const auto& rights) { return is_denied(context, rights); });
    const bool is_on_device = extent->kind == memory::Kind::device;
    if (is_on_device ? extent->device == context.device().ordinal() : !extent->pooled) return true;
    const auto allocation = allocations.find(place);
    return !allocation || access_of(context, *allocation) == Access::read_write;
  }
  return false;
}

class CheckedAccess final : public exec::MemoryAccess {
 public:
  CheckedAccess(const MemoryServices& services, std::shared_ptr<const Context> context)
      : services_(services), context_(std::move(context)) {}

  std::optional<exec::DeniedMemory> denied(const void* address, bool writes,
                                           exec::PermittedMemory& known) const noexcept override {
    if (!services_.space.contains(address)) return std::nullopt;
    const auto number = reinterpret_cast<std::uintptr_t>(address);
    const std::uint64_t changes = services_.allocations.changes();
    if (known.as_of != changes) known = {.as_of = changes};
    exec::PermittedMemory::Range& range = known.range_for(number);
    return range.permits(number, writes) ? std::nullopt : look_up(address, writes, range);
  }

 private:
  std::optional<exec::DeniedMemory> look_up(const void* address, bool writes,
                                            exec::PermittedMemory::Range& range) const noexcept {
    const auto found = services_.allocations.find(address);
    if (!found) return std::nullopt;
    const Access access = access_of(*context_, *found);
    if (access < (writes ? Access::read_write : Access::read))
      return exec::DeniedMemory{.device = found->kind == memory::Kind::host ? -1 : found->device,
                                .may_read = access == Access::read};
    const auto begin = reinterpret_cast<std::uintptr_t>(found->base);
    range = {begin, begin + found->size, access == Access::read_write};
    return std::nullopt;
  }

  const MemoryServices& services_;
  const std::shared_ptr<const Context> context_;
};

bool is_unsafe_address(const MemoryServices& services, const Context& context, std::span<const std::byte> arguments) {
  for (std::size_t offset = 0; offset + sizeof(void*) <= arguments.size(); offset += sizeof(void*)) {
    const std::byte* word = nullptr;
    std::memcpy(&word, arguments.data() + offset, sizeof word);
    if (services.space.contains(word) && !is_safe_to_give(services, context, word)) return true;
  }
  return false;
}

}  // namespace

Access access_of(const Context& context, const memory::Allocation& allocation) {
  const auto owner = owner_of(allocation);
  return owner ? access_of(context, *owner) : Access::read_write;
}

// Launches ask, so the answer is kept. With one device, only memory of the host can be for somebody else.
bool is_denied_memory(const MemoryServices& services, const Context& context) {
  const memory::AllocationTable& allocations = services.allocations;
  if (services.devices.count() == 1 && !allocations.any_owner_of_host_memory()) return false;
  const std::uint64_t changes = allocations.changes();
  std::atomic<std::uint64_t>& note = context.note_of_denied_memory();  // changes * 2 + whether there is
  const std::uint64_t noted = note.load(std::memory_order_relaxed);
  if (noted / 2 == changes) return noted % 2 != 0;
  const auto owners = allocations.owners();
  const bool found =
      std::any_of(owners.begin(), owners.end(), [&](const auto& owner) { return is_denied(context, owner); });
  note.store(changes * 2 + (found ? 1 : 0), std::memory_order_relaxed);
  return found;
}

std::shared_ptr<const exec::MemoryAccess> access_to_check(const MemoryServices& services,
                                                          const std::shared_ptr<const Context>& context,
                                                          std::span<const std::byte> arguments, bool finds_addresses) {
  if (!is_denied_memory(services, *context)) return nullptr;
  if (!finds_addresses && !is_unsafe_address(services, *context, arguments)) return nullptr;
  return std::make_shared<CheckedAccess>(services, context);
}

}  // namespace softgpu::runtime
