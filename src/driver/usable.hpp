#pragma once

#include <cuprum/driver.hpp>

namespace cuprum::inline CUPRUM_ABI::driver {

/// The table in use; null when no driver was opened yet or the process is a fork that must not touch it. For releases,
/// which must do nothing then.
const Api* usable_api() noexcept;

}  // namespace cuprum::inline CUPRUM_ABI::driver
