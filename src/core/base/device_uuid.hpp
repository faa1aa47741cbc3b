#pragma once

#include <cuprum/uuid.hpp>
#include <optional>

namespace cuprum::core {

/// As the driver knows it: the same in all processes.
Uuid device_uuid(int device);

/// The device that has it; none when this process sees none.
std::optional<int> device_with(const Uuid& uuid);

}  // namespace cuprum::core
