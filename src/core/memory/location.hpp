// Between Location and the driver's CUmemLocation.
#pragma once

#include <cuprum/driver.hpp>
#include <cuprum/location.hpp>
#include <optional>

namespace cuprum::core {

CUmemLocation cu_location(const Location& location);

/// None for CU_MEM_LOCATION_TYPE_INVALID, which is how the driver says that there is no location.
std::optional<Location> location_of(const CUmemLocation& location);

}  // namespace cuprum::core
