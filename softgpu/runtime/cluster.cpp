#include "softgpu/runtime/cluster.hpp"

#include <algorithm>
#include <string>

#include "softgpu/runtime/error.hpp"

namespace softgpu::runtime {
namespace {

constexpr unsigned kPortableClusterSize = 8;  // what every device with clusters can launch

std::string text(const abi::Dim3& dim) {
  return "(" + std::to_string(dim.x) + ", " + std::to_string(dim.y) + ", " + std::to_string(dim.z) + ")";
}

[[noreturn]] void refuse(const jit::KernelFacts& facts, const std::string& why) {
  throw Failure(CUDA_ERROR_INVALID_CLUSTER_SIZE, "kernel '" + facts.name + "': " + why);
}

bool equal(const abi::Dim3& a, const abi::Dim3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

abi::Dim3 extents_set_for(const KernelSettings& settings) {
  const auto extent = [&](CUfunction_attribute which) {
    return static_cast<unsigned>(settings.get(which).value_or(0));
  };
  return {extent(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH), extent(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT),
          extent(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH)};
}

}  // namespace

std::optional<abi::Dim3> required_cluster(const jit::KernelFacts& facts, const KernelSettings& settings) {
  const auto& compiled = facts.required_cluster;
  if (compiled[0] != 0) return abi::Dim3{compiled[0], std::max(compiled[1], 1u), std::max(compiled[2], 1u)};
  const abi::Dim3 set = extents_set_for(settings);
  if (set.x == 0 && set.y == 0 && set.z == 0) return std::nullopt;
  if (set.x == 0 || set.y == 0 || set.z == 0)
    refuse(facts, "its attributes require a cluster of " + text(set) + "; set all three extents or none");
  return set;
}

unsigned max_cluster_size(const jit::KernelFacts& facts, const KernelSettings& settings) {
  const bool non_portable = settings.get(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED).value_or(0) != 0;
  const unsigned most = non_portable ? abi::kMaxClusterBlocks : kPortableClusterSize;
  return facts.max_cluster_rank != 0 ? std::min(most, facts.max_cluster_rank) : most;
}

Cluster cluster_of(const jit::KernelFacts& facts, const KernelSettings& settings,
                   const std::optional<abi::Dim3>& requested) {
  const std::optional<abi::Dim3> required = required_cluster(facts, settings);
  if (!required && !requested) {
    if (facts.explicit_cluster) refuse(facts, "a launch has to say how large its clusters are");
    return {};
  }
  if (required && requested && !equal(*required, *requested))
    refuse(facts, "clusters of " + text(*requested) + " blocks; it has clusters of " + text(*required));
  const abi::Dim3 size = requested.value_or(required.value_or(abi::Dim3{}));
  const unsigned most = max_cluster_size(facts, settings);
  const std::uint64_t blocks = std::uint64_t{size.x} * size.y * size.z;
  if (blocks == 0 || size.x > most || size.y > most || size.z > most || blocks > most)
    refuse(facts, "clusters of " + text(size) + " blocks; there can be from 1 to " + std::to_string(most) +
                      (most == kPortableClusterSize ? " (CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)" : ""));
  return {size, true};
}

}  // namespace softgpu::runtime
