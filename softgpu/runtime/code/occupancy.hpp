// How many blocks of a kernel a multiprocessor holds, by CUDA's rules. softgpu's workers hold one block each; programs
// that size their grids by these functions still get what they would on a GPU of this compute capability.
#pragma once

#include <cstddef>
#include <functional>

#include "softgpu/jit/program.hpp"
#include "softgpu/runtime/base/profile.hpp"

namespace softgpu::runtime {

// The kernel, as far as it matters here.
struct OccupancyKernel {
  const jit::KernelFacts& facts;
  int max_dynamic_shared = 0;  // as set for it: more only with CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
};

// 0 when a block does not fit at all.
int max_active_blocks(const Profile& profile, const OccupancyKernel& kernel, int block_size,
                      std::size_t dynamic_shared);

struct BlockSize {
  int block_size = 0;
  int blocks_per_multiprocessor = 0;
};
// The block size with the most threads per multiprocessor; the larger one of equals. `limit` of 0: none.
BlockSize best_block_size(const Profile& profile, const OccupancyKernel& kernel,
                          const std::function<std::size_t(int block_size)>& dynamic_shared, int limit);

// Dynamic shared memory that each of `blocks` blocks on a multiprocessor can have.
std::size_t available_dynamic_shared(const Profile& profile, const OccupancyKernel& kernel, int blocks);

}  // namespace softgpu::runtime
