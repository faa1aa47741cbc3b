#pragma once

#include <memory>
#include <vector>

#include "core/graph/node_params.hpp"
#include "core/graph/resources.hpp"

namespace cuprum::core {

/// Adds a node behind others, with what the graph is to keep for it. The request gets what the driver answers. Edges
/// may have data; there are none or as many as nodes. `unwanted`, which has room, gets a node that failed when it was
/// there already: for a graph from which none may be removed now.
std::shared_ptr<detail::NodeRecord> add_node(detail::GraphResource& graph, const std::vector<CUgraphNode>& after,
                                             NodeRequest& request, const std::vector<CUgraphEdgeData>& edges = {},
                                             std::vector<CUgraphNode>* unwanted = nullptr);

/// Replaces what a node does.
void set_node(detail::GraphResource& graph, detail::NodeRecord& node, NodeRequest& request);

/// The node of a clone that `original` became; null when the clone does not have it.
CUgraphNode find_in_clone(CUgraphNode original, CUgraph copy);

/// Takes over what is known of the nodes of a graph for a copy that the driver made of it.
void copy_records(detail::GraphResource& copy, const detail::GraphResource& original);

/// The graph in a child graph node.
detail::GraphResource& child_of(detail::GraphResource& graph, CUgraphNode node);

/// The bodies of a conditional node whose request was answered.
std::vector<detail::GraphResource*> adopt_bodies(detail::GraphResource& graph, detail::NodeRecord& node,
                                                 const NodeRequest& request);

}  // namespace cuprum::core
