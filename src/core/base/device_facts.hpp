#pragma once

#include <array>
#include <cstdint>
#include <cuprum/device.hpp>
#include <string>

namespace cuprum::core {

/// What launches and messages need to know of a device; read once.
struct DeviceFacts {
  int device;
  std::string name;
  ComputeCapability compute_capability;
  std::int64_t multiprocessor_count;
  std::int64_t max_threads_per_block;
  std::array<std::int64_t, 3> max_block_dim;
  std::array<std::int64_t, 3> max_grid_dim;
  std::size_t max_shared_memory_per_block;        ///< without asking for more
  std::size_t max_shared_memory_per_block_optin;  ///< after asking
  bool cluster_launch;
  bool cooperative_launch;
  bool memory_pools;
  bool host_memory_pools;
};

/// Throws InvalidArgument when there is no device of that number. The result lives as long as the process.
const DeviceFacts& device_facts(int device);

int device_count();

}  // namespace cuprum::core
