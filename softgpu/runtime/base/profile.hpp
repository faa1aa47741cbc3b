// What a device of a compute capability can hold, after the tables of the CUDA programming guide.
#pragma once

#include <cstddef>

namespace softgpu::runtime {

struct Profile {
  unsigned compute_capability;
  int threads_per_multiprocessor;
  int blocks_per_multiprocessor;
  int shared_per_multiprocessor;  // bytes
  int shared_per_block_opt_in;    // bytes; without opting in 48 KiB
  // The same for all since 5.0:
  int registers_per_multiprocessor = 65536;
  int registers_per_block = 65536;
  int max_registers_per_thread = 255;
  int register_unit = 256;        // per warp
  int warp_unit = 4;              // warps share the register file of a scheduler in these groups
  int shared_unit = 128;          // bytes
  int shared_reserved_per_block;  // bytes

  bool has_clusters() const { return compute_capability >= 90; }
  bool has_tensor_maps() const { return compute_capability >= 90; }
};

// The profile of the newest capability that is not newer than this one.
const Profile& profile_of(unsigned compute_capability);

inline constexpr int kWarpSize = 32;
inline constexpr int kMaxThreadsPerBlock = 1024;
inline constexpr int kMaxBlockDim[3] = {1024, 1024, 64};
inline constexpr int kMaxGridDim[3] = {2147483647, 65535, 65535};
inline constexpr int kSharedPerBlock = 48 * 1024;
inline constexpr int kConstantBytes = 64 * 1024;
inline constexpr int kLeastPriority = 0, kGreatestPriority = -5;
inline constexpr std::size_t kMaxParameterBytes = 32764;

}  // namespace softgpu::runtime
