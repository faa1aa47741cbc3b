// What a kernel node has as attributes, and not among its parameters.
#pragma once

#include <cuprum/driver.hpp>
#include <cuprum/launch_config.hpp>

namespace cuprum::core {

/// Gives a node with the attributes of `before` those of `config` instead. A new one has none.
void set_kernel_attributes(CUgraphNode node, const LaunchConfig& config, const LaunchConfig& before = {});
/// The attributes as they are, in a configuration that has nothing else.
LaunchConfig kernel_attributes(CUgraphNode node);

}  // namespace cuprum::core
