#include <algorithm>
#include <cuprum/graph/definition.hpp>
#include <cuprum/graph/executable.hpp>
#include <ostream>

#include "core/base/deferred.hpp"
#include "core/graph/add_nodes.hpp"
#include "core/graph/executable.hpp"
#include "core/graph/resources.hpp"
#include "support/c_string.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI::graph {

using core::ContextGuard;
using cuprum::detail::GraphAccess;
using cuprum::detail::GraphResource;
using driver::Api;
using driver::Doing;
using support::text;

namespace {

std::shared_ptr<GraphResource> create_graph() {
  auto resource = core::make_deferrable<GraphResource>(nullptr, GraphResource::Ownership::ours);
  CUgraph handle = nullptr;
  driver::call<&Api::cuGraphCreate>(Doing{[] { return "creating a graph"; }}, &handle, 0u);
  resource->adopt(handle);
  return resource;
}

std::vector<CUgraphNode> node_handles(const GraphResource& graph) {
  const Doing doing{[] { return "reading the nodes of a graph"; }};
  std::size_t count = 0;
  driver::call<&Api::cuGraphGetNodes>(doing, graph.handle, static_cast<CUgraphNode*>(nullptr), &count);
  std::vector<CUgraphNode> nodes(count);
  if (count > 0) driver::call<&Api::cuGraphGetNodes>(doing, graph.handle, nodes.data(), &count);
  return nodes;
}

// Other code may have destroyed nodes; another node of the same handle must not be taken for one of them.
void forget_missing(GraphResource& graph, std::vector<CUgraphNode> there) {
  std::sort(there.begin(), there.end());
  std::vector<CUgraphNode> missing;
  for (const auto& [node, record] : graph.records) {
    if (!std::binary_search(there.begin(), there.end(), node)) missing.push_back(node);
  }
  for (CUgraphNode node : missing) graph.forget(node);
}

unsigned print_flags(const GraphDebugPrintOptions& options) {
  const std::pair<bool, unsigned> flags[] = {
      {options.verbose, CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE},
      {options.runtime_types, CU_GRAPH_DEBUG_DOT_FLAGS_RUNTIME_TYPES},
      {options.kernel_node_params, CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS},
      {options.memcpy_node_params, CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS},
      {options.memset_node_params, CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS},
      {options.host_node_params, CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS},
      {options.event_node_params, CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS},
      {options.ext_semas_signal_node_params, CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_SIGNAL_NODE_PARAMS},
      {options.ext_semas_wait_node_params, CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_WAIT_NODE_PARAMS},
      {options.kernel_node_attributes, CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES},
      {options.handles, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES},
      {options.mem_alloc_node_params, CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS},
      {options.mem_free_node_params, CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS},
      {options.batch_mem_op_node_params, CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS},
      {options.extra_topo_info, CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO},
      {options.conditional_node_params, CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS},
  };
  unsigned all = 0;
  for (const auto& [is_set, flag] : flags) all |= is_set ? flag : 0;
  return all;
}

}  // namespace

GraphDefinition::GraphDefinition() : GraphDefinition(create_graph()) {}

GraphDefinition GraphDefinition::from_handle(CUgraph_st* handle, std::shared_ptr<const void> owner) {
  if (!handle) throw InvalidArgument("wrapping a graph: the handle is null");
  return GraphDefinition(
      core::make_deferrable<GraphResource>(handle, GraphResource::Ownership::foreign, std::move(owner)));
}

EmptyNode GraphDefinition::empty() const { return join(std::vector<GraphNode>()); }

GraphCondition GraphDefinition::create_condition(std::optional<unsigned> default_value) const {
  GraphResource& graph = GraphAccess::graph(*this);
  ContextGuard guard(core::ContextChoice::current());
  return core::create_condition(guard.context(), graph.handle, default_value);
}

Graph GraphDefinition::instantiate(const GraphCompleteOptions& options) const {
  return core::instantiate(GraphAccess::graph(*this), options);
}

GraphDefinition GraphDefinition::clone() const {
  const GraphResource& original = GraphAccess::graph(*this);
  auto copy = core::make_deferrable<GraphResource>(nullptr, GraphResource::Ownership::ours);
  CUgraph handle = nullptr;
  driver::call<&Api::cuGraphClone>(Doing{[&] { return text("cloning ", *this); }}, &handle, original.handle);
  copy->adopt(handle);
  core::copy_records(*copy, original);
  return GraphDefinition(std::move(copy));
}

std::optional<GraphNode> GraphDefinition::find_in_clone(const GraphNode& original) const {
  GraphResource& graph = GraphAccess::graph(*this);
  const CUgraphNode found = core::find_in_clone(GraphAccess::node(original).handle, graph.handle);
  if (!found) return std::nullopt;
  return GraphAccess::make(graph_, graph.record(found));
}

std::vector<GraphNode> GraphDefinition::nodes() const {
  GraphResource& graph = GraphAccess::graph(*this);
  const std::vector<CUgraphNode> handles = node_handles(graph);
  forget_missing(graph, handles);
  std::vector<GraphNode> nodes;
  nodes.reserve(handles.size());
  for (CUgraphNode handle : handles) nodes.push_back(GraphAccess::make(graph_, graph.record(handle)));
  return nodes;
}

std::vector<std::pair<GraphNode, GraphNode>> GraphDefinition::edges() const {
  GraphResource& graph = GraphAccess::graph(*this);
  const Doing doing{[] { return "reading the edges of a graph"; }};
  std::size_t count = 0;
  driver::call<&Api::cuGraphGetEdges>(doing, graph.handle, static_cast<CUgraphNode*>(nullptr),
                                      static_cast<CUgraphNode*>(nullptr), static_cast<CUgraphEdgeData*>(nullptr),
                                      &count);
  std::vector<CUgraphNode> from(count);
  std::vector<CUgraphNode> to(count);
  std::vector<CUgraphEdgeData> data(count);
  if (count > 0) driver::call<&Api::cuGraphGetEdges>(doing, graph.handle, from.data(), to.data(), data.data(), &count);
  std::vector<std::pair<GraphNode, GraphNode>> edges;
  edges.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    edges.emplace_back(GraphAccess::make(graph_, graph.record(from[i])),
                       GraphAccess::make(graph_, graph.record(to[i])));
  }
  return edges;
}

void GraphDefinition::debug_dot_print(const std::string& path, const GraphDebugPrintOptions& options) const {
  driver::call<&Api::cuGraphDebugDotPrint>(Doing{[&] { return text("writing ", *this, " to ", path); }},
                                           GraphAccess::graph(*this).handle,
                                           support::c_string(path, "the path of a file"), print_flags(options));
}

bool GraphDefinition::is_valid() const noexcept { return graph_ && graph_->handle; }

CUgraph_st* GraphDefinition::handle() const { return graph_ ? graph_->handle : nullptr; }

const void* GraphDefinition::identity() const noexcept { return graph_ ? graph_->identity : nullptr; }

bool operator==(const GraphDefinition& a, const GraphDefinition& b) noexcept {
  if (GraphAccess::shared_graph(a).get() == GraphAccess::shared_graph(b).get()) return true;
  return a.is_valid() && b.is_valid() && GraphAccess::shared_graph(a)->handle == GraphAccess::shared_graph(b)->handle;
}

std::ostream& operator<<(std::ostream& out, const GraphDefinition& graph) {
  if (!GraphAccess::shared_graph(graph)) return out << "an empty handle of a graph";
  if (!graph.is_valid()) return out << "a graph that is gone";
  std::size_t count = 0;
  const CUgraph handle = GraphAccess::shared_graph(graph)->handle;
  out << "graph " << static_cast<const void*>(handle);
  if (driver::try_call<&Api::cuGraphGetNodes>(handle, static_cast<CUgraphNode*>(nullptr), &count) == CUDA_SUCCESS)
    out << " of " << count << (count == 1 ? " node" : " nodes");
  return out;
}

}  // namespace cuprum::inline CUPRUM_ABI::graph
