#include "core/graph/node_attributes.hpp"

#include <atomic>

#include "support/text.hpp"

namespace cuprum::core {

using driver::Api;
using driver::Doing;
using support::text;

namespace {
std::atomic<unsigned long long> fixed_attribute_changes{0};
}

unsigned long long count_change_of_fixed_attributes() { return ++fixed_attribute_changes; }
unsigned long long changes_of_fixed_attributes() { return fixed_attribute_changes.load(); }

// Those that stay as they are are left alone: a driver need not know them all.
void set_kernel_attributes(CUgraphNode node, const LaunchConfig& config, const LaunchConfig& before) {
  const auto set = [&](CUkernelNodeAttrID id, const CUkernelNodeAttrValue& value) {
    driver::call<&Api::cuGraphKernelNodeSetAttribute>(
        Doing{[&] { return text("giving a kernel node the attributes of ", config); }}, node, id, &value);
  };
  if (config.cluster != before.cluster) {
    const Dim3 cluster = config.cluster.value_or(Dim3(0, 0, 0));  // which is none
    CUkernelNodeAttrValue value{};
    value.clusterDim = {static_cast<unsigned>(cluster.x), static_cast<unsigned>(cluster.y),
                        static_cast<unsigned>(cluster.z)};
    set(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, value);
  }
  if (config.is_cooperative != before.is_cooperative) {
    CUkernelNodeAttrValue value{};
    value.cooperative = config.is_cooperative;
    set(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, value);
  }
  if (config.priority.value_or(0) != before.priority.value_or(0)) {
    CUkernelNodeAttrValue value{};
    value.priority = config.priority.value_or(0);
    set(CU_LAUNCH_ATTRIBUTE_PRIORITY, value);
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
