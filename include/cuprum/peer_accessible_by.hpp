// Which other devices can access the memory of a pool, as a set.
#pragma once

#include <cstddef>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/shared.hpp>
#include <cuprum/detail/snapshot_iterator.hpp>
#include <iosfwd>
#include <memory>
#include <vector>

namespace cuprum::inline CUPRUM_ABI {

class Device;

/// A live view: reads ask the driver, writes tell it, nothing is remembered. So all views of a pool agree. Changing
/// access takes long, because the driver updates every mapping of the pool; functions that take several devices make
/// one call of the driver, and none when nothing changes.
///
/// The pool's own device is never in the set: giving or taking its access is silently ignored. Keeps the pool alive;
/// threads may share it.
class CUPRUM_API PeerAccessibleBySet {
 public:
  bool contains(const Device& device) const;
  std::size_t size() const;
  bool empty() const { return size() == 0; }

  /// Goes over the devices that were in the set when it was called, by increasing number.
  detail::SnapshotIterator<Device> begin() const;
  detail::SnapshotEnd end() const { return {}; }

  /// Throws InvalidArgument, and changes nothing, when the pool's device can't be accessed by one of them.
  void add(const Device& device) const;
  void update(const std::vector<Device>& devices) const;

  void discard(const Device& device) const;
  void difference_update(const std::vector<Device>& devices) const;
  void intersection_update(const std::vector<Device>& devices) const;
  /// Throws like add().
  void symmetric_difference_update(const std::vector<Device>& devices) const;
  void clear() const;

 private:
  friend class DeviceMemoryResource;
  explicit PeerAccessibleBySet(std::shared_ptr<detail::PoolMemory> pool) : pool_(std::move(pool)) {}
  std::shared_ptr<detail::PoolMemory> pool_;
};

/// Prints "{1, 2}".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const PeerAccessibleBySet& devices);

}  // namespace cuprum::inline CUPRUM_ABI
