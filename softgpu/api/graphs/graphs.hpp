// From handles of graphs to graphs, and from the parameters of their nodes to what those do.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "softgpu/api/base/call.hpp"
#include "softgpu/runtime/graphs/graph.hpp"
#include "softgpu/runtime/graphs/graph_exec.hpp"

namespace softgpu::api {

// All throw CUDA_ERROR_INVALID_VALUE.
std::shared_ptr<runtime::Graph> find_graph(CUgraph handle);
std::shared_ptr<runtime::GraphNode> find_node(CUgraphNode handle);
std::shared_ptr<runtime::GraphExec> find_exec(CUgraphExec handle);
std::vector<runtime::Dependency> dependencies_of(const CUgraphNode* nodes, const CUgraphEdgeData* edges, size_t count);

// A null one is the current context.
std::shared_ptr<Context> context_of(CUcontext handle);

// The work of a node that has to be of that type.
template <typename Work>
const Work& work_as(const runtime::GraphNode& node) {
  const auto* work = std::get_if<Work>(&node.work());
  require(work != nullptr, CUDA_ERROR_INVALID_VALUE, "a node of another type");
  return *work;
}

// What a node with these parameters would do in the graph. Checks them.
runtime::NodeWork work_of(const CUgraphNodeParams& params, const runtime::Graph& graph);
// The node that is added, and in `result` its handle.
std::shared_ptr<runtime::GraphNode> add_node(CUgraphNode* result, CUgraph graph, const CUgraphNode* dependencies,
                                             const CUgraphEdgeData* edges, size_t count,
                                             const CUgraphNodeParams& params);
// The node has to be of the type that the parameters are for. In an executable graph, a child graph is compared with
// the one that is there, everything else is replaced.
void set_node(CUgraphNode node, const CUgraphNodeParams& params);
void set_exec_node(CUgraphExec exec, CUgraphNode node, const CUgraphNodeParams& params);
// Other forms of parameters, as the union has them.
CUDA_KERNEL_NODE_PARAMS_v3 newest(const CUDA_KERNEL_NODE_PARAMS_v1& params);
CUDA_KERNEL_NODE_PARAMS_v3 newest(const CUDA_KERNEL_NODE_PARAMS_v2& params);
CUDA_MEMCPY_NODE_PARAMS in_context(const CUDA_MEMCPY3D& params, CUcontext context);
CUDA_MEMSET_NODE_PARAMS_v2 in_context(const CUDA_MEMSET_NODE_PARAMS_v1& params, CUcontext context);
// Copies and memory operations as the driver API has them.
CUDA_MEMCPY3D request_of(const runtime::CopyWork& work);
CUstreamBatchMemOpParams request_of(const runtime::MemoryOperation& operation);

// Parameters of a node, given by the member of the union that its type has.
using NodeParams = CUgraphNodeParams;
template <typename Member>
NodeParams node_params(CUgraphNodeType type, Member NodeParams::* member, const Member& value) {
  NodeParams params{};
  params.type = type;
  params.*member = value;
  return params;
}

// Lists as graphs give them: a null list asks for the count alone; what does not fit is left out, and what is left of
// the list is filled with nulls.
template <typename Item, typename Range, typename Convert>
void give_list(Item* list, size_t* count, const Range& items, Convert&& convert) {
  require_pointer(count);
  const size_t room = list != nullptr ? *count : 0;
  if (list != nullptr)
    for (size_t i = 0; i < room; ++i) list[i] = i < items.size() ? convert(items[i]) : Item{};
  *count = list != nullptr ? std::min(room, items.size()) : items.size();
}

}  // namespace softgpu::api
