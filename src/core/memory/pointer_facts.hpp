// What the driver knows about an address.
#pragma once

#include <cuprum/detail/cuda_handles.hpp>
#include <optional>

namespace cuprum::core {

struct PointerFacts {
  bool is_device_accessible;
  bool is_host_accessible;
  bool is_managed;
  std::optional<int> device;  ///< that the memory is on, or belongs to; none for the host's own
};

/// Memory that the driver doesn't know is the host's own.
PointerFacts facts_of(DevicePointer pointer);

}  // namespace cuprum::core
