// What a kernel node has as attributes, and not among its parameters.
#pragma once

#include <cuprum/driver.hpp>
#include <cuprum/launch_config.hpp>

namespace cuprum::core {

/// Gives a node with the attributes of `before` those of `config` instead. A new one has none.
void set_kernel_attributes(CUgraphNode node, const LaunchConfig& config, const LaunchConfig& before = {});
/// The attributes as they are, in a configuration that has nothing else.
LaunchConfig kernel_attributes(CUgraphNode node);

/// Counts the changes of what executable graphs can't change, clusters and being cooperative. Of a node whose last one
/// came after an executable graph was made, it is not known any more what they are there.
unsigned long long count_change_of_fixed_attributes();
unsigned long long changes_of_fixed_attributes();
inline bool have_same_fixed_attributes(const LaunchConfig& a, const LaunchConfig& b) {
  return a.cluster == b.cluster && a.is_cooperative == b.is_cooperative;
}

}  // namespace cuprum::core
