#pragma once

#include <cuprum/detail/export.hpp>

namespace cuprum::inline CUPRUM_ABI {

/// Version of the library that is running, such as "0.1.0".
CUPRUM_API const char* version() noexcept;

}  // namespace cuprum::inline CUPRUM_ABI
