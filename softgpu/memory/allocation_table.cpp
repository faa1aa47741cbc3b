#include "softgpu/memory/allocation_table.hpp"

#include <mutex>
#include <utility>

namespace softgpu::memory {
namespace {

std::uintptr_t address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace

std::optional<Owner> owner_of(const Allocation& allocation) {
  const Kind kind = allocation.kind;
  if (kind != Kind::device && kind != Kind::host) return std::nullopt;
  if (allocation.pool != nullptr) return Owner{.kind = kind, .device = allocation.device, .pool = allocation.pool};
  if (allocation.freed_by == FreedBy::unmapping)
    return Owner{.kind = kind, .device = allocation.device, .mapped = allocation.rights};
  if (kind == Kind::host) return std::nullopt;
  return Owner{.device = allocation.device, .context = allocation.context};
}

bool AllocationTable::continues(const Allocation& first, const Allocation& next) {
  return first.freed_by == FreedBy::unmapping && next.freed_by == FreedBy::unmapping &&
         first.base + first.size == next.base;
}

void AllocationTable::note_owner(const Allocation& allocation) {
  const auto owner = owner_of(allocation);
  if (!owner || ++owners_[*owner] != 1) return;
  if (owner->kind == Kind::host) host_owners_.fetch_add(1, std::memory_order_release);
  note_change_of_access();
}

void AllocationTable::forget_owner(const Allocation& allocation) {
  const auto owner = owner_of(allocation);
  if (!owner) return;
  const auto it = owners_.find(*owner);
  if (--it->second == 0) {
    owners_.erase(it);
    if (owner->kind == Kind::host) host_owners_.fetch_sub(1, std::memory_order_release);
  }
  note_change_of_access();
}

std::vector<Owner> AllocationTable::owners() const {
  const std::shared_lock lock(mutex_);
  std::vector<Owner> owners;
  owners.reserve(owners_.size());
  for (const auto& [owner, count] : owners_) owners.push_back(owner);
  return owners;
}

AllocationTable::Map::const_iterator AllocationTable::locate(const void* pointer) const {
  const auto it = allocations_.lower_bound(address(pointer));
  return it != allocations_.end() && it->second.contains(pointer) ? it : allocations_.end();
}

bool AllocationTable::insert(Allocation allocation) {
  const std::unique_lock lock(mutex_);
  const std::uintptr_t last = address(allocation.base) + allocation.size - 1;
  const auto next = allocations_.lower_bound(address(allocation.base));
  if (next != allocations_.end() && address(next->second.base) <= last) return false;
  allocation.id = next_id_++;
  note_owner(allocation);
  allocations_.emplace(last, std::move(allocation));
  return true;
}

std::optional<Allocation> AllocationTable::find(const void* pointer) const {
  const std::shared_lock lock(mutex_);
  const auto it = locate(pointer);
  return it == allocations_.end() ? std::nullopt : std::optional(it->second);
}

std::optional<AllocationTable::Extent> AllocationTable::extent(const void* pointer, std::size_t bytes) const {
  const std::shared_lock lock(mutex_);
  const auto it = locate(pointer);
  if (it == allocations_.end()) return std::nullopt;
  const Allocation& allocation = it->second;
  Extent extent{.kind = allocation.kind,
                .bytes = it->first + 1 - address(pointer),
                .device = allocation.device,
                .pooled = allocation.pool != nullptr,
                .mapped = std::nullopt};
  if (allocation.freed_by != FreedBy::unmapping) return extent;
  extent.mapped = allocation.rights;
  for (auto last = it, next = std::next(it); extent.bytes < bytes && next != allocations_.end() &&
                                             continues(last->second, next->second) && next->second.kind == extent.kind;
       last = next++) {
    extent.bytes += next->second.size;
    extent.mapped->restrict_to(next->second.rights);
  }
  return extent;
}

bool AllocationTable::any_in(const void* base, std::size_t size) const {
  const std::shared_lock lock(mutex_);
  const auto it = allocations_.lower_bound(address(base));
  return it != allocations_.end() && address(it->second.base) < address(base) + size;
}

std::optional<Allocation> AllocationTable::find_base(const void* base) const {
  std::optional<Allocation> found = find(base);
  return found && found->base == base ? std::move(found) : std::nullopt;
}

std::optional<Allocation> AllocationTable::erase(const void* base) {
  const std::unique_lock lock(mutex_);
  const auto it = locate(base);
  if (it == allocations_.end() || it->second.base != base) return std::nullopt;
  forget_owner(it->second);
  return std::move(allocations_.extract(it).mapped());
}

bool AllocationTable::set_synchronous(const void* pointer, bool value) {
  const std::unique_lock lock(mutex_);
  const auto it = locate(pointer);
  if (it == allocations_.end()) return false;
  allocations_.at(it->first).synchronous = value;
  return true;
}

void AllocationTable::set_rights(const void* base, const Rights& rights) {
  const std::unique_lock lock(mutex_);
  const auto it = locate(base);
  if (it == allocations_.end() || it->second.base != base) return;
  forget_owner(it->second);
  Allocation& allocation = allocations_.at(it->first);
  allocation.rights = rights;
  note_owner(allocation);
}

}  // namespace softgpu::memory
