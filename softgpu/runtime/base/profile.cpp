#include "softgpu/runtime/base/profile.hpp"

#include <array>

namespace softgpu::runtime {
namespace {

constexpr int KiB = 1024;

constexpr Profile row(unsigned capability, int threads, int blocks, int shared, int opt_in, int unit, int reserved) {
  return {.compute_capability = capability,
          .threads_per_multiprocessor = threads,
          .blocks_per_multiprocessor = blocks,
          .shared_per_multiprocessor = shared * KiB,
          .shared_per_block_opt_in = opt_in * KiB,
          .shared_unit = unit,
          .shared_reserved_per_block = reserved * KiB};
}

constexpr std::array kProfiles = {
    row(50, 2048, 32, 64, 48, 256, 0),   row(52, 2048, 32, 96, 48, 256, 0),   row(60, 2048, 32, 64, 48, 256, 0),
    row(61, 2048, 32, 96, 48, 256, 0),   row(70, 2048, 32, 96, 96, 256, 0),   row(75, 1024, 16, 64, 64, 256, 0),
    row(80, 2048, 32, 164, 163, 128, 1), row(86, 1536, 16, 100, 99, 128, 1),  row(87, 1536, 16, 164, 163, 128, 1),
    row(89, 1536, 24, 100, 99, 128, 1),  row(90, 2048, 32, 228, 227, 128, 1), row(100, 2048, 32, 228, 227, 128, 1),
    row(120, 1536, 24, 100, 99, 128, 1),
};

}  // namespace

const Profile& profile_of(unsigned compute_capability) {
  const Profile* found = &kProfiles.front();
  for (const Profile& profile : kProfiles)
    if (profile.compute_capability <= compute_capability) found = &profile;
  return *found;
}

}  // namespace softgpu::runtime
