#include "driver_abi/entry_points.hpp"

namespace cuprum::driver_abi {
namespace {

constexpr EntryPoint list[] = {
#define CUPRUM_DRIVER_ENTRY_POINT(name, version) {#name, version},
#include <cuprum/detail/driver_entry_points.def>
};

}  // namespace

std::span<const EntryPoint> entry_points() noexcept { return list; }

}  // namespace cuprum::driver_abi
