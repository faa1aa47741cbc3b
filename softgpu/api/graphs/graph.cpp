// Graphs: making, copying and looking at them.
#include "softgpu/runtime/graphs/graph.hpp"

#include <algorithm>

#include "softgpu/api/graphs/graphs.hpp"

namespace softgpu::api {
namespace {

using runtime::Dependency;
using runtime::Graph;
using runtime::GraphEdge;
using runtime::GraphNode;

struct Edge {
  CUgraphNode from, to;
  CUgraphEdgeData data;
};

bool has_data(const CUgraphEdgeData& data) { return data.from_port != 0 || data.to_port != 0 || data.type != 0; }

// The older forms can't give what edges may say beyond their ends.
template <typename Edges>
void require_plain(const Edges& edges, const void* list) {
  require(
      list == nullptr || std::none_of(edges.begin(), edges.end(), [](const auto& edge) { return has_data(edge.data); }),
      CUDA_ERROR_LOSSY_QUERY, "the edges have data that this form does not give");
}

void give_edges(CUgraph handle, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data, size_t* count) {
  require_pointer(count);
  require((from == nullptr) == (to == nullptr), CUDA_ERROR_INVALID_VALUE, "both ends of the edges, or none");
  std::vector<Edge> edges;
  for (const auto& node : find_graph(handle)->nodes())
    for (const GraphEdge& edge : node->dependents()) edges.push_back({node->handle(), edge.node->handle(), edge.data});
  if (data == nullptr) require_plain(edges, from);
  size_t room = *count;
  if (data != nullptr) give_list(data, &room, edges, [](const Edge& edge) { return edge.data; });
  room = *count;
  give_list(from, &room, edges, [](const Edge& edge) { return edge.from; });
  give_list(to, count, edges, [](const Edge& edge) { return edge.to; });
}

void give_neighbours(const std::vector<GraphEdge>& edges, CUgraphNode* nodes, CUgraphEdgeData* data, size_t* count) {
  require_pointer(count);
  if (data == nullptr) require_plain(edges, nodes);
  size_t room = *count;
  if (data != nullptr && nodes != nullptr)
    give_list(data, &room, edges, [](const GraphEdge& edge) { return edge.data; });
  give_list(nodes, count, edges, [](const GraphEdge& edge) { return edge.node->handle(); });
}

// `change(graph, from, to, data)` for each edge.
template <typename Change>
void change_edges(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData* data,
                  size_t count, Change&& change) {
  const auto graph = find_graph(handle);
  require(count == 0 || (from != nullptr && to != nullptr), CUDA_ERROR_INVALID_VALUE, "no edges");
  for (size_t i = 0; i < count; ++i)
    change(*graph, *find_node(from[i]), *find_node(to[i]), data != nullptr ? data[i] : CUgraphEdgeData{});
}

void connect(Graph& graph, GraphNode& from, GraphNode& to, const CUgraphEdgeData& data) {
  graph.connect(from, to, data);
}
void disconnect(Graph& graph, GraphNode& from, GraphNode& to, const CUgraphEdgeData& data) {
  graph.disconnect(from, to, data);
}

}  // namespace

std::shared_ptr<Graph> find_graph(CUgraph handle) {
  auto graph = Driver::get().graphs().graphs.find(handle);
  require_handle(graph != nullptr, CUDA_ERROR_INVALID_VALUE, "not a graph, or one that was destroyed");
  return graph;
}

std::shared_ptr<GraphNode> find_node(CUgraphNode handle) {
  auto node = Driver::get().graphs().nodes.find(handle);
  require_handle(node != nullptr, CUDA_ERROR_INVALID_VALUE, "not a node of a graph, or one that was destroyed");
  return node;
}

std::vector<Dependency> dependencies_of(const CUgraphNode* nodes, const CUgraphEdgeData* edges, size_t count) {
  require(count == 0 || nodes != nullptr, CUDA_ERROR_INVALID_VALUE, "no dependencies");
  std::vector<Dependency> dependencies;
  for (size_t i = 0; i < count; ++i)
    dependencies.push_back({find_node(nodes[i]), edges != nullptr ? edges[i] : CUgraphEdgeData{}});
  return dependencies;
}

}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  return call(__func__, [&] {
    require_pointer(graph);
    require_no_flags(flags);
    *graph = Graph::create(Driver::get().graphs())->handle();
  });
}

CUresult cuGraphDestroy(CUgraph graph) {
  return call(__func__, [&] {
    const auto found = find_graph(graph);
    require(!found->is_child(), CUDA_ERROR_INVALID_VALUE, "a child graph goes with its parent");
    if (found->is_captured_into()) say_undefined("cuGraphDestroy", "a graph that is being captured into");
    found->drop_handles();
  });
}

CUresult cuGraphClone(CUgraph* clone, CUgraph graph) {
  return call(__func__, [&] {
    require_pointer(clone);
    const auto found = find_graph(graph);
    require(!found->has_memory_nodes() && !found->has_conditional_nodes(), CUDA_ERROR_NOT_SUPPORTED,
            "a graph with memory nodes or conditional nodes can't be cloned");
    *clone = found->clone()->handle();
  });
}

CUresult cuGraphNodeFindInClone(CUgraphNode* node, CUgraphNode original, CUgraph clone) {
  return call(__func__, [&] {
    require_pointer(node);
    const auto twin = find_graph(clone)->find_clone(*find_node(original));
    require(twin != nullptr, CUDA_ERROR_INVALID_VALUE, "the graph was not cloned from the node's");
    *node = twin->handle();
  });
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  return call(__func__, [&] {
    require_pointer(type);
    *type = find_node(node)->type();
  });
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return call(__func__, [&] {
    give_list(nodes, count, find_graph(graph)->nodes(), [](const auto& node) { return node->handle(); });
  });
}

CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return call(__func__, [&] {
    auto roots = find_graph(graph)->nodes();
    std::erase_if(roots, [](const auto& node) { return !node->dependencies().empty(); });
    give_list(nodes, count, roots, [](const auto& node) { return node->handle(); });
  });
}

CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  return call(__func__, [&] { give_edges(graph, from, to, nullptr, count); });
}
CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data, size_t* count) {
  return call(__func__, [&] { give_edges(graph, from, to, data, count); });
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return call(__func__, [&] { give_neighbours(find_node(node)->dependencies(), nodes, nullptr, count); });
}
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data, size_t* count) {
  return call(__func__, [&] { give_neighbours(find_node(node)->dependencies(), nodes, data, count); });
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return call(__func__, [&] { give_neighbours(find_node(node)->dependents(), nodes, nullptr, count); });
}
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data, size_t* count) {
  return call(__func__, [&] { give_neighbours(find_node(node)->dependents(), nodes, data, count); });
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
  return call(__func__, [&] { change_edges(graph, from, to, nullptr, count, connect); });
}
CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* data, size_t count) {
  return call(__func__, [&] { change_edges(graph, from, to, data, count, connect); });
}

CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
  return call(__func__, [&] { change_edges(graph, from, to, nullptr, count, disconnect); });
}
CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData* data, size_t count) {
  return call(__func__, [&] { change_edges(graph, from, to, data, count, disconnect); });
}

CUresult cuGraphDestroyNode(CUgraphNode node) {
  return call(__func__, [&] {
    const auto found = find_node(node);
    if (found->graph().is_captured_into())
      say_undefined("cuGraphDestroyNode", "a node of a graph that is being captured into");
    found->graph().remove(*found);
  });
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* handle, CUgraph graph, CUcontext context,
                                        unsigned at_launch, unsigned flags) {
  return call(__func__, [&] {
    require_pointer(handle);
    require((flags & ~static_cast<unsigned>(CU_GRAPH_COND_ASSIGN_DEFAULT)) == 0, CUDA_ERROR_INVALID_VALUE,
            "the flags are 0 or CU_GRAPH_COND_ASSIGN_DEFAULT");
    const auto target = find_graph(graph);
    const bool has_default = flags == CU_GRAPH_COND_ASSIGN_DEFAULT;
    const auto variable = std::make_shared<runtime::ConditionalVariable>(
        context_of(context), has_default ? std::optional(at_launch) : std::nullopt);
    target->add_conditional(variable);
    *handle = variable->handle();
  });
}

CUresult cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned flags) {
  return call(__func__, [&] {
    require_pointer(path, "no file");
    runtime::write_dot(*find_graph(graph), path, flags);
  });
}

}  // extern "C"
