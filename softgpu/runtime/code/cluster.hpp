// How the blocks of a launch form clusters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "softgpu/abi/kernel.hpp"
#include "softgpu/runtime/code/kernel_attributes.hpp"

namespace softgpu::runtime {

struct Cluster {
  abi::Dim3 size;            // in blocks
  bool is_explicit = false;  // the kernel or the launch names it
};

// What the kernel says of its clusters: in its code, or by its attributes. None: it leaves them to the launch. Throws
// CUDA_ERROR_INVALID_CLUSTER_SIZE when only some of the three extents are set.
std::optional<abi::Dim3> required_cluster(const jit::KernelFacts& facts, const KernelSettings& settings);

// A kernel may have been compiled for launches that count clusters; then this is their grid in blocks.
abi::Dim3 grid_in_blocks(const jit::KernelFacts& facts, const abi::Dim3& grid);

// What a launch attribute with a size of clusters asks for; three zeros ask for nothing.
std::optional<abi::Dim3> asked_cluster(unsigned x, unsigned y, unsigned z);

// The clusters of a launch of this grid that asks for those of `requested`, or for none. Throws
// CUDA_ERROR_INVALID_CLUSTER_SIZE for what the kernel does not allow and for grids that are not of whole clusters. A
// kernel that allows sizes that are not portable may ask for more blocks than a cluster can have: see max_cluster_size.
Cluster cluster_of(const jit::KernelFacts& facts, const KernelSettings& settings, const abi::Dim3& grid,
                   const std::optional<abi::Dim3>& requested);

// The most blocks that a cluster of a kernel with these settings can have, whatever size it was compiled for.
unsigned max_cluster_size(const KernelSettings& settings);

// For messages.
std::string text(const abi::Dim3&);

inline std::uint64_t blocks_of(const abi::Dim3& cluster) { return std::uint64_t{cluster.x} * cluster.y * cluster.z; }

}  // namespace softgpu::runtime
