// The host as a place for memory.
//
//   managed.prefetch(Host(), stream);        // the host's memory, on any NUMA node
//   managed.set_preferred_location(Host(1));  // on NUMA node 1
#pragma once

#include <cstddef>
#include <cuprum/detail/export.hpp>
#include <functional>
#include <iosfwd>
#include <optional>

namespace cuprum::inline CUPRUM_ABI {

/// The counterpart of Device for managed memory: the host as a whole, one of its NUMA nodes, or the NUMA node of the
/// calling thread. A value; nothing is initialised by it.
class CUPRUM_API Host {
 public:
  /// Any NUMA node.
  Host() = default;

  /// One NUMA node. Throws InvalidArgument for a negative number.
  explicit Host(int numa_id);

  /// The NUMA node of the thread that makes the call which is given this place.
  static Host numa_current();

  /// None unless the host was made with a node's number.
  std::optional<int> numa_id() const { return numa_id_; }
  /// Whether it was made by numa_current().
  bool is_numa_current() const { return is_numa_current_; }

  friend bool operator==(const Host&, const Host&) = default;

 private:
  std::optional<int> numa_id_;
  bool is_numa_current_ = false;
};

/// Prints "the host", "NUMA node 1" or "the NUMA node of the calling thread".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const Host& host);

}  // namespace cuprum::inline CUPRUM_ABI

/// By the NUMA node, as hosts are compared.
template <>
struct std::hash<cuprum::Host> {
  std::size_t operator()(const cuprum::Host& host) const noexcept {
    return std::hash<int>{}(host.is_numa_current() ? -2 : host.numa_id().value_or(-1));
  }
};
