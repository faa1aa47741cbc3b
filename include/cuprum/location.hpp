// Where memory is or is to go: a device or the host.
#pragma once

#include <cstddef>
#include <cuprum/detail/export.hpp>
#include <cuprum/host.hpp>
#include <functional>
#include <iosfwd>

namespace cuprum::inline CUPRUM_ABI {

class Device;

/// What a place is.
enum class LocationType {
  device,             ///< the memory of a device
  host,               ///< the host's memory, on any NUMA node
  host_numa,          ///< one NUMA node of the host
  host_numa_current,  ///< the NUMA node of the calling thread
};

/// Prints cuda.core's words: "device", "host", "host_numa", "host_numa_current".
CUPRUM_API std::ostream& operator<<(std::ostream& out, LocationType type);

/// A Device or a Host; converts from both, so that either can be passed where a place is wanted. A value.
class CUPRUM_API Location {
 public:
  /// The device's memory.
  Location(const Device& device);
  /// The host as a whole, or the NUMA node that `host` names.
  Location(const Host& host);

  /// What is meant: each of the three kinds of Host is a type of its own.
  LocationType type() const { return type_; }
  /// Whether device() can be asked for.
  bool is_device() const { return type_ == LocationType::device; }
  /// Whether host() can be asked for.
  bool is_host() const { return !is_device(); }

  /// The device's number, or that of the NUMA node; 0 for the host as a whole and for the current node.
  int id() const { return id_; }

  /// Throws InvalidArgument when the place is not a device.
  Device device() const;
  /// Throws InvalidArgument when the place is a device.
  Host host() const;

  friend bool operator==(const Location&, const Location&) = default;

 private:
  LocationType type_;
  int id_;
};

/// Prints "device 1", or as a Host is printed.
CUPRUM_API std::ostream& operator<<(std::ostream& out, const Location& location);

}  // namespace cuprum::inline CUPRUM_ABI

/// By type and number, as places are compared.
template <>
struct std::hash<cuprum::Location> {
  std::size_t operator()(const cuprum::Location& location) const noexcept {
    return std::hash<int>{}(location.id() * 4 + static_cast<int>(location.type()));
  }
};
