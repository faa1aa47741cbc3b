// Access of other devices to a pool.
#pragma once

#include <cuprum/device.hpp>
#include <set>
#include <vector>

#include "core/memory/memory_pool.hpp"

namespace cuprum::core {

/// What the driver has in its tables, by the numbers of devices. Every change is one call of the driver, or none.
class PeerAccess {
 public:
  /// Throws WrongState when the pool is closed, also where the driver need not be asked: there may be one device only.
  explicit PeerAccess(const detail::PoolMemory& pool) : pool_(pool), owner_(pool.place().location.id) {
    static_cast<void>(pool.use());
  }

  bool includes(int device) const;
  /// Of all devices but the pool's own.
  std::set<int> current() const;

  /// Makes `wanted` the devices that have access, where `before` have it now.
  void change(const std::set<int>& before, std::set<int> wanted) const;
  void assign(const std::vector<Device>& devices) const;

 private:
  const detail::PoolMemory& pool_;
  const int owner_;
};

std::set<int> numbers_of(const std::vector<Device>& devices);

}  // namespace cuprum::core
