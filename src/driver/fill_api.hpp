#pragma once

#include <cuprum/driver.hpp>
#include <string>

#include "support/shared_library.hpp"

namespace cuprum::inline CUPRUM_ABI::driver {

/// Asks the driver for every entry point. Those that it is too old for stay null. Throws NotSupported when the library
/// is not a CUDA driver of version 12.0 or newer.
void fill_api(Api& api, const support::SharedLibrary& library, const std::string& path);

}  // namespace cuprum::inline CUPRUM_ABI::driver
