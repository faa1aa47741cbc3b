// What graphs must be like to be made executable.
#pragma once

#include <cstdint>

#include "softgpu/runtime/graphs/graph.hpp"

namespace softgpu::runtime {

// The graph; throws InstantiateFailure.
const Graph& checked_for_instantiation(const Graph& graph, std::uint64_t flags);

// Whether it, or the graphs inside of it, have nodes that kernels can change.
bool has_updatable_nodes(const Graph& graph);

// Whether kernels of it, or of the graphs inside of it, call cudaGraphLaunch().
bool launches_graphs(const Graph& graph);

}  // namespace softgpu::runtime
