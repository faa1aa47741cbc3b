// Finding and opening a CUDA driver. Nothing here is remembered: see load.cpp for what is.
#pragma once

#include <cuprum/driver.hpp>
#include <string>
#include <string_view>

namespace cuprum::inline CUPRUM_ABI::driver {

/// A driver that is open and initialised (cuInit has succeeded).
struct OpenDriver {
  Info info;
  Api api;
};

/// "auto", "nvidia" or "softgpu". Throws InvalidArgument that lists these for anything else.
Choice parse_choice(std::string_view word);

/// What CUPRUM_DRIVER says; automatic when it is unset.
Choice choice_from_environment();

/// Opens what is chosen. Throws NotSupported when it is not there, DriverError when it does not initialise.
/// `automatic` tells on stderr when it ends at softgpu.
OpenDriver open_driver(Choice choice);

}  // namespace cuprum::inline CUPRUM_ABI::driver
