#include "core/graph/node_attributes.hpp"

#include <atomic>
#include <string>

#include "support/text.hpp"

namespace cuprum::core {

using driver::Api;
using driver::Doing;
using support::text;

namespace {
std::atomic<unsigned long long> fixed_attribute_changes{0};

std::string doing(const LaunchConfig& config) { return text("giving a kernel node the attributes of ", config); }

void set_attribute(CUgraphNode node, CUkernelNodeAttrID id, const CUkernelNodeAttrValue& value,
                   const LaunchConfig& config) {
  driver::call<&Api::cuGraphKernelNodeSetAttribute>(Doing{[&] { return doing(config); }}, node, id, &value);
}

CUkernelNodeAttrValue cluster_value(const Dim3& cluster) {
  CUkernelNodeAttrValue value{};
  value.clusterDim = {static_cast<unsigned>(cluster.x), static_cast<unsigned>(cluster.y),
                      static_cast<unsigned>(cluster.z)};
  return value;
}

void set_cluster(CUgraphNode node, const LaunchConfig& config) {
  constexpr CUkernelNodeAttrID id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  if (config.cluster) return set_attribute(node, id, cluster_value(*config.cluster), config);
  // No clusters are zeros, as in a node that never had any. That a driver takes those is not documented; clusters of
  // one block, which it has to take, do the same.
  const CUkernelNodeAttrValue none = cluster_value({0, 0, 0});
  const CUresult result = driver::try_call<&Api::cuGraphKernelNodeSetAttribute>(node, id, &none);
  if (result == CUDA_ERROR_INVALID_VALUE) return set_attribute(node, id, cluster_value({1, 1, 1}), config);
  if (result != CUDA_SUCCESS)
    driver::detail::raise(result, driver::detail::index_of_cuGraphKernelNodeSetAttribute, doing(config));
}

}  // namespace

unsigned long long count_change_of_fixed_attributes() { return ++fixed_attribute_changes; }
unsigned long long changes_of_fixed_attributes() { return fixed_attribute_changes.load(); }

// Those that stay as they are are left alone: a driver need not know them all.
void set_kernel_attributes(CUgraphNode node, const LaunchConfig& config, const LaunchConfig& before) {
  if (config.cluster != before.cluster) set_cluster(node, config);
  if (config.is_cooperative != before.is_cooperative) {
    CUkernelNodeAttrValue value{};
    value.cooperative = config.is_cooperative;
    set_attribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, value, config);
  }
  if (config.priority.value_or(0) != before.priority.value_or(0)) {
    CUkernelNodeAttrValue value{};
    value.priority = config.priority.value_or(0);
    set_attribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, value, config);
  }
}

LaunchConfig kernel_attributes(CUgraphNode node) {
  const auto read = [&](CUkernelNodeAttrID id) {
    CUkernelNodeAttrValue value{};
    driver::call<&Api::cuGraphKernelNodeGetAttribute>(Doing{[] { return "reading an attribute of a kernel node"; }},
                                                      node, id, &value);
    return value;
  };
  LaunchConfig config;
  const auto cluster = read(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim;
  if (cluster.x != 0) config.cluster = Dim3(cluster.x, cluster.y, cluster.z);
  config.is_cooperative = read(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative != 0;
  if (const int priority = read(CU_LAUNCH_ATTRIBUTE_PRIORITY).priority; priority != 0) config.priority = priority;
  return config;
}

}  // namespace cuprum::core
