#pragma once

#include <cuprum/detail/export.hpp>

/// The whole of the library. The names are in an inline namespace that is named after the version of the interface, so
/// that two versions in one process do not mix; programs write cuprum::Stream.
namespace cuprum::inline CUPRUM_ABI {

/// Version of the library that is running, such as "0.1.0".
CUPRUM_API const char* version() noexcept;

}  // namespace cuprum::inline CUPRUM_ABI
