#include "softgpu/runtime/code/cluster.hpp"

#include <algorithm>
#include <string>

#include "softgpu/runtime/base/error.hpp"

namespace softgpu::runtime {
namespace {

constexpr unsigned kPortableClusterSize = 8;  // what every device with clusters can launch

[[noreturn]] void refuse(const jit::KernelFacts& facts, const std::string& why) {
  throw Failure(CUDA_ERROR_INVALID_CLUSTER_SIZE, "kernel '" + facts.name + "': " + why);
}

bool equal(const abi::Dim3& a, const abi::Dim3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

bool allows_any_size(const KernelSettings& settings) {
  return settings.get(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED).value_or(0) != 0;
}

abi::Dim3 extents_set_for(const KernelSettings& settings) {
  const auto extent = [&](CUfunction_attribute which) {
    return static_cast<unsigned>(settings.get(which).value_or(0));
  };
  return {extent(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH), extent(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT),
          extent(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH)};
}

}  // namespace

std::string text(const abi::Dim3& dim) {
  return "(" + std::to_string(dim.x) + ", " + std::to_string(dim.y) + ", " + std::to_string(dim.z) + ")";
}

std::optional<abi::Dim3> required_cluster(const jit::KernelFacts& facts, const KernelSettings& settings) {
  const auto& compiled = facts.required_cluster;
  if (compiled[0] != 0) return abi::Dim3{compiled[0], std::max(compiled[1], 1u), std::max(compiled[2], 1u)};
  const abi::Dim3 set = extents_set_for(settings);
  if (set.x == 0 && set.y == 0 && set.z == 0) return std::nullopt;
  if (set.x == 0 || set.y == 0 || set.z == 0)
    refuse(facts, "its attributes require a cluster of " + text(set) + "; set all three extents or none");
  return set;
}

std::optional<abi::Dim3> asked_cluster(unsigned x, unsigned y, unsigned z) {
  return (x | y | z) != 0 ? std::optional(abi::Dim3{x, y, z}) : std::nullopt;
}

abi::Dim3 grid_in_blocks(const jit::KernelFacts& facts, const abi::Dim3& grid) {
  const auto& cluster = facts.required_cluster;
  if (!facts.blocks_are_clusters || cluster[0] == 0) return grid;
  const auto scaled = [](std::uint32_t clusters, std::uint32_t blocks) {
    const std::uint64_t product = std::uint64_t{clusters} * std::max(blocks, 1u);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(product, UINT32_MAX));  // too large in any case
  };
  return {scaled(grid.x, cluster[0]), scaled(grid.y, cluster[1]), scaled(grid.z, cluster[2])};
}

unsigned max_cluster_size(const KernelSettings& settings) {
  return allows_any_size(settings) ? abi::kMaxClusterBlocks : kPortableClusterSize;
}

Cluster cluster_of(const jit::KernelFacts& facts, const KernelSettings& settings, const abi::Dim3& grid,
                   const std::optional<abi::Dim3>& requested) {
  const std::optional<abi::Dim3> required = required_cluster(facts, settings);
  if (!required && !requested) {
    if (facts.explicit_cluster) refuse(facts, "a launch has to say how large its clusters are");
    return {};
  }
  if (required && requested && !equal(*required, *requested))
    refuse(facts, "clusters of " + text(*requested) + " blocks; it has clusters of " + text(*required));
  const abi::Dim3 size = requested ? *requested : *required;
  if (size.x == 0 || size.y == 0 || size.z == 0) refuse(facts, "clusters of " + text(size) + " blocks");
  if (grid.x % size.x != 0 || grid.y % size.y != 0 || grid.z % size.z != 0)
    refuse(facts, "a grid of " + text(grid) + " blocks is not one of whole clusters of " + text(size));
  const unsigned most = facts.max_cluster_rank != 0 ? facts.max_cluster_rank : kPortableClusterSize;
  if (blocks_of(size) > most && (facts.max_cluster_rank != 0 || !allows_any_size(settings)))
    refuse(facts, "clusters of " + text(size) + " blocks; it can have " + std::to_string(most) +
                      (facts.max_cluster_rank == 0 ? " (CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)" : ""));
  return {size, true};
}

}  // namespace softgpu::runtime
