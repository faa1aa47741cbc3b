#include "core/memory/peer_access.hpp"

#include <algorithm>
#include <cuprum/error.hpp>
#include <cuprum/peer_accessible_by.hpp>
#include <ostream>

#include "core/base/closable.hpp"
#include "core/base/device_facts.hpp"
#include "core/base/empty_handle.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::numbers_of;
using core::PeerAccess;
using driver::Api;
using driver::Doing;
using support::join;
using support::text;

}  // namespace cuprum::inline CUPRUM_ABI

namespace cuprum::core {

bool PeerAccess::includes(int device) const {
  if (device == owner_) return false;
  CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, device};
  CUmemAccess_flags access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  driver::call<&Api::cuMemPoolGetAccess>(
      Doing{[&] { return text("asking whether device ", device, " can access a pool of ", pool_.place()); }}, &access,
      pool_.use().handle, &location);
  return access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

std::set<int> PeerAccess::current() const {
  std::set<int> devices;
  for (int device = 0; device < device_count(); ++device) {
    if (includes(device)) devices.insert(device);
  }
  return devices;
}

void PeerAccess::change(const std::set<int>& before, std::set<int> wanted) const {
  wanted.erase(owner_);
  std::vector<CUmemAccessDesc> changes;
  std::vector<int> impossible;
  auto add_change = [&](int device, CUmemAccess_flags access) {
    changes.push_back({{CU_MEM_LOCATION_TYPE_DEVICE, device}, access});
  };
  for (int device : wanted) {
    if (before.contains(device)) continue;
    if (!detail::Access::device(owner_).can_access_peer(detail::Access::device(device))) impossible.push_back(device);
    add_change(device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  }
  if (!impossible.empty()) {
    throw InvalidArgument(text("peer access to a pool of ", pool_.place(), ": not possible for device ",
                               join(impossible), "; ask Device::can_access_peer first"));
  }
  for (int device : before) {
    if (!wanted.contains(device)) add_change(device, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  }
  if (changes.empty()) return;
  driver::call<&Api::cuMemPoolSetAccess>(
      Doing{[&] { return text("changing which devices can access a pool of ", pool_.place()); }}, pool_.use().handle,
      changes.data(), changes.size());
}

void PeerAccess::assign(const std::vector<Device>& devices) const { change(current(), numbers_of(devices)); }

std::set<int> numbers_of(const std::vector<Device>& devices) {
  std::set<int> numbers;
  for (const Device& device : devices) numbers.insert(device.device_id());
  return numbers;
}

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI {
namespace {

detail::PoolMemory& pool_of_set(const std::shared_ptr<detail::PoolMemory>& pool) {
  return *core::not_empty(pool, "set of devices");
}

}  // namespace

bool PeerAccessibleBySet::contains(const Device& device) const {
  return PeerAccess(pool_of_set(pool_)).includes(device.device_id());
}

std::size_t PeerAccessibleBySet::size() const { return PeerAccess(pool_of_set(pool_)).current().size(); }

detail::SnapshotIterator<Device> PeerAccessibleBySet::begin() const {
  std::vector<Device> devices;
  for (int device : PeerAccess(pool_of_set(pool_)).current()) devices.push_back(detail::Access::device(device));
  return detail::SnapshotIterator<Device>(std::move(devices));
}

void PeerAccessibleBySet::add(const Device& device) const {
  const PeerAccess access(pool_of_set(pool_));
  if (!access.includes(device.device_id())) access.change({}, {device.device_id()});
}

void PeerAccessibleBySet::update(const std::vector<Device>& devices) const {
  const PeerAccess access(pool_of_set(pool_));
  const std::set<int> before = access.current();
  std::set<int> wanted = numbers_of(devices);
  wanted.insert(before.begin(), before.end());
  access.change(before, std::move(wanted));
}

void PeerAccessibleBySet::discard(const Device& device) const {
  const PeerAccess access(pool_of_set(pool_));
  if (access.includes(device.device_id())) access.change({device.device_id()}, {});
}

void PeerAccessibleBySet::difference_update(const std::vector<Device>& devices) const {
  const PeerAccess access(pool_of_set(pool_));
  const std::set<int> before = access.current();
  const std::set<int> revoked = numbers_of(devices);
  std::set<int> wanted;
  std::ranges::set_difference(before, revoked, std::inserter(wanted, wanted.end()));
  access.change(before, std::move(wanted));
}

void PeerAccessibleBySet::intersection_update(const std::vector<Device>& devices) const {
  const PeerAccess access(pool_of_set(pool_));
  const std::set<int> before = access.current();
  const std::set<int> kept = numbers_of(devices);
  std::set<int> wanted;
  std::ranges::set_intersection(before, kept, std::inserter(wanted, wanted.end()));
  access.change(before, std::move(wanted));
}

void PeerAccessibleBySet::symmetric_difference_update(const std::vector<Device>& devices) const {
  const PeerAccess access(pool_of_set(pool_));
  const std::set<int> before = access.current();
  const std::set<int> toggled = numbers_of(devices);
  std::set<int> wanted;
  std::ranges::set_symmetric_difference(before, toggled, std::inserter(wanted, wanted.end()));
  access.change(before, std::move(wanted));
}

void PeerAccessibleBySet::clear() const {
  const PeerAccess access(pool_of_set(pool_));
  access.change(access.current(), {});
}

std::ostream& operator<<(std::ostream& out, const PeerAccessibleBySet& devices) {
  std::vector<int> numbers;
  for (const Device& device : devices) numbers.push_back(device.device_id());
  return out << '{' << join(numbers) << '}';
}

}  // namespace cuprum::inline CUPRUM_ABI
