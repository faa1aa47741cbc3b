// The bytes of a tensor map, as kernels take them.
#pragma once

#include <cstdint>
#include <cuprum/detail/export.hpp>

namespace cuprum::inline CUPRUM_ABI {

/// What CUtensorMap of <cuda.h> is: 128 bytes that only the driver and a device's copy engine understand. A kernel has
/// it as a parameter `const __grid_constant__ CUtensorMap`; name it in a TypedKernel, and pass a TensorMapDescriptor.
struct OpaqueTensorMap {
  std::uint64_t opaque[16] = {};  ///< as the driver encoded it

  /// Whether all bytes are equal.
  friend bool operator==(const OpaqueTensorMap&, const OpaqueTensorMap&) = default;
};

}  // namespace cuprum::inline CUPRUM_ABI
