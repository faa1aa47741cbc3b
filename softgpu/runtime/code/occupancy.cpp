#include "softgpu/runtime/code/occupancy.hpp"

#include <algorithm>

namespace softgpu::runtime {
namespace {

int round_up(int value, int unit) { return (value + unit - 1) / unit * unit; }
int round_down(int value, int unit) { return value / unit * unit; }
int warps_of(int threads) { return (threads + kWarpSize - 1) / kWarpSize; }

int blocks_by_registers(const Profile& profile, const jit::KernelFacts& facts, int warps) {
  const int registers = static_cast<int>(facts.registers);
  if (registers == 0) return profile.blocks_per_multiprocessor;
  const int per_warp = round_up(registers * kWarpSize, profile.register_unit);
  // A block's warps are spread evenly over the schedulers, each with its own part of the registers.
  if (round_up(warps, profile.warp_unit) * per_warp > profile.registers_per_block) return 0;
  const int warps_held = round_down(profile.registers_per_multiprocessor / per_warp, profile.warp_unit);
  return warps_held / warps;
}

int blocks_by_shared(const Profile& profile, const OccupancyKernel& kernel, std::size_t dynamic_shared) {
  if (dynamic_shared > static_cast<std::size_t>(kernel.max_dynamic_shared)) return 0;
  const int wanted =
      static_cast<int>(kernel.facts.static_shared_bytes + dynamic_shared) + profile.shared_reserved_per_block;
  const int per_block = round_up(wanted, profile.shared_unit);
  return per_block == 0 ? profile.blocks_per_multiprocessor : profile.shared_per_multiprocessor / per_block;
}

}  // namespace

int max_active_blocks(const Profile& profile, const OccupancyKernel& kernel, int block_size,
                      std::size_t dynamic_shared) {
  if (block_size > static_cast<int>(kernel.facts.max_threads_per_block)) return 0;
  const int warps = warps_of(block_size);
  const int by_warps = profile.threads_per_multiprocessor / kWarpSize / warps;
  return std::min({profile.blocks_per_multiprocessor, by_warps, blocks_by_registers(profile, kernel.facts, warps),
                   blocks_by_shared(profile, kernel, dynamic_shared)});
}

BlockSize best_block_size(const Profile& profile, const OccupancyKernel& kernel,
                          const std::function<std::size_t(int block_size)>& dynamic_shared, int limit) {
  const int device_limit = static_cast<int>(kernel.facts.max_threads_per_block);
  const int largest = limit > 0 ? std::min(limit, device_limit) : device_limit;
  BlockSize best;
  // From the largest size down in whole warps; the first may be a limit that is none.
  for (int rounded = round_up(largest, kWarpSize); rounded > 0; rounded -= kWarpSize) {
    const int block_size = std::min(largest, rounded);
    const int blocks = max_active_blocks(profile, kernel, block_size, dynamic_shared(block_size));
    if (blocks * block_size > best.blocks_per_multiprocessor * best.block_size) best = {block_size, blocks};
    if (best.blocks_per_multiprocessor * best.block_size == profile.threads_per_multiprocessor) break;
  }
  return best;
}

std::size_t available_dynamic_shared(const Profile& profile, const OccupancyKernel& kernel, int blocks) {
  const int per_block = round_down(profile.shared_per_multiprocessor / blocks, profile.shared_unit);
  const int taken = static_cast<int>(kernel.facts.static_shared_bytes) + profile.shared_reserved_per_block;
  return static_cast<std::size_t>(std::clamp(per_block - taken, 0, kernel.max_dynamic_shared));
}

}  // namespace softgpu::runtime
