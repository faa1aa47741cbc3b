// How many blocks of a kernel a multiprocessor holds, by CUDA's rules. softgpu's workers hold one block each; programs
// that size their grids by these functions still get what they would on a GPU of this compute capability.
#pragma once

#include <cstddef>
#include <functional>

#include "softgpu/jit/program.hpp"
#include "softgpu/runtime/profile.hpp"

namespace softgpu::runtime {

// 0 when a block does not fit at all.
int max_active_blocks(const Profile& profile, const jit::KernelFacts& facts, int block_size,
                      std::size_t dynamic_shared);

struct BlockSize {
  int block_size = 0;
  int blocks_per_multiprocessor = 0;
};
// The block size with the most threads per multiprocessor; the larger one of equals. `limit` of 0: none.
BlockSize best_block_size(const Profile& profile, const jit::KernelFacts& facts,
                          const std::function<std::size_t(int block_size)>& dynamic_shared, int limit);

// Dynamic shared memory that each of `blocks` blocks on a multiprocessor can have.
std::size_t available_dynamic_shared(const Profile& profile, const jit::KernelFacts& facts, int blocks, int block_size);

}  // namespace softgpu::runtime
