// How the blocks of a launch form clusters.
#pragma once

#include <optional>

#include "softgpu/abi/kernel.hpp"
#include "softgpu/runtime/kernel_attributes.hpp"

namespace softgpu::runtime {

struct Cluster {
  abi::Dim3 size;            // in blocks
  bool is_explicit = false;  // the kernel or the launch names it
};

// What the kernel says of its clusters: in its code, or by its attributes. None: it leaves them to the launch. Throws
// CUDA_ERROR_INVALID_CLUSTER_SIZE when only some of the three extents are set.
std::optional<abi::Dim3> required_cluster(const jit::KernelFacts& facts, const KernelSettings& settings);

// The clusters of a launch that asks for those of `requested`, or for none. Throws CUDA_ERROR_INVALID_CLUSTER_SIZE.
Cluster cluster_of(const jit::KernelFacts& facts, const KernelSettings& settings,
                   const std::optional<abi::Dim3>& requested);

// The most blocks that a cluster of this kernel can have.
unsigned max_cluster_size(const jit::KernelFacts& facts, const KernelSettings& settings);

inline unsigned blocks_of(const abi::Dim3& cluster) { return cluster.x * cluster.y * cluster.z; }

}  // namespace softgpu::runtime
