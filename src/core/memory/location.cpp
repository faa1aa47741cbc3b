#include "core/memory/location.hpp"

#include <cuprum/device.hpp>
#include <cuprum/error.hpp>
#include <ostream>

#include "core/base/closable.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using support::text;

namespace {

LocationType type_of(const Host& host) {
  if (host.is_numa_current()) return LocationType::host_numa_current;
  return host.numa_id() ? LocationType::host_numa : LocationType::host;
}

}  // namespace

Location::Location(const Device& device) : type_(LocationType::device), id_(device.device_id()) {}

Location::Location(const Host& host) : type_(type_of(host)), id_(host.numa_id().value_or(0)) {}

Device Location::device() const {
  if (!is_device()) throw WrongType(text(*this, " is not a device"));
  return detail::Access::device(id_);
}

Host Location::host() const {
  if (is_device()) throw WrongType(text(*this, " is not the host"));
  if (type_ == LocationType::host_numa_current) return Host::numa_current();
  return type_ == LocationType::host_numa ? Host(id_) : Host();
}

std::ostream& operator<<(std::ostream& out, const Location& location) {
  if (location.is_device()) return out << "device " << location.id();
  return out << location.host();
}

}  // namespace cuprum::inline CUPRUM_ABI

namespace cuprum::core {

CUmemLocation cu_location(const Location& location) {
  constexpr CUmemLocationType types[] = {CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_LOCATION_TYPE_HOST,
                                         CU_MEM_LOCATION_TYPE_HOST_NUMA, CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT};
  return {types[static_cast<std::size_t>(location.type())], location.id()};
}

std::optional<Location> location_of(const CUmemLocation& location) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE: return detail::Access::device(location.id);
    case CU_MEM_LOCATION_TYPE_HOST: return Host();
    case CU_MEM_LOCATION_TYPE_HOST_NUMA: return Host(location.id);
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT: return Host::numa_current();
    default: return std::nullopt;
  }
}

}  // namespace cuprum::core
