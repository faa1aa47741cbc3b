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
  /// Always false for the pool's own device.
  bool contains(const Device& device) const;
  /// How many devices; each call asks the driver about all of them.
  std::size_t size() const;
  /// Whether no other device can access the pool; asks the driver, too.
  bool empty() const { return size() == 0; }

  /// Goes over the devices that were in the set when it was called, by increasing number.
  detail::SnapshotIterator<Device> begin() const;
  /// Where each of those iterations ends.
  detail::SnapshotEnd end() const { return {}; }

  /// Lets the device access the pool. Throws InvalidArgument, and changes nothing, when it can't.
  void add(const Device& device) const;
  /// Lets these access it, too. Throws like add(), when one of them can't.
  void update(const std::vector<Device>& devices) const;

  /// Takes the device's access away; does nothing when it has none.
  void discard(const Device& device) const;
  /// Takes the access of these away.
  void difference_update(const std::vector<Device>& devices) const;
  /// Takes the access of all others away; gives none.
  void intersection_update(const std::vector<Device>& devices) const;
  /// Takes the access of those of these that have it, and gives it to those that have not. Throws like add().
  void symmetric_difference_update(const std::vector<Device>& devices) const;
  /// Takes the access of all away.
  void clear() const;

 private:
  friend class DeviceMemoryResource;
  explicit PeerAccessibleBySet(std::shared_ptr<detail::PoolMemory> pool) : pool_(std::move(pool)) {}
  std::shared_ptr<detail::PoolMemory> pool_;
};

/// Prints "{1, 2}".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const PeerAccessibleBySet& devices);

}  // namespace cuprum::inline CUPRUM_ABI
