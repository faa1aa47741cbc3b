#include "softgpu/runtime/graphs/graph.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <unordered_map>

#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/graphs/graph_services.hpp"

namespace softgpu::runtime {
namespace {

std::uint64_t next_node_id() {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

bool same(const CUgraphEdgeData& a, const CUgraphEdgeData& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

auto find_edge(std::vector<GraphEdge>& edges, const GraphNode& node) {
  return std::find_if(edges.begin(), edges.end(), [&](const GraphEdge& edge) { return edge.node == &node; });
}

// Edges for kernels that start before others have ended are as good as any: such a kernel may also start later.
void check_edge(const GraphNode& from, const GraphNode& to, const CUgraphEdgeData& data) {
  const bool plain = same(data, {});
  const bool programmatic = data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC && data.to_port == 0 &&
                            (data.from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC ||
                             data.from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER);
  const auto is_kernel = [](const GraphNode& node) { return node.type() == CU_GRAPH_NODE_TYPE_KERNEL; };
  require(plain || (programmatic && is_kernel(from) && is_kernel(to)), CUDA_ERROR_INVALID_VALUE,
          "no such edge between these nodes");
}

}  // namespace

GraphNode::GraphNode(Graph& graph, std::shared_ptr<const NodeWork> work)
    : graph_(graph), id_(next_node_id()), original_(id_), work_(std::move(work)) {}

void GraphNode::set_work(NodeWork work) {
  require(type_of(work) == type(), CUDA_ERROR_INVALID_VALUE, "parameters for another type of node");
  if (const auto* child = std::get_if<ChildWork>(work_.get())) child->graph->drop_handles();
  work_ = std::make_shared<const NodeWork>(std::move(work));
}

std::shared_ptr<Graph> Graph::create(GraphServices& services, Handles handles) {
  const std::shared_ptr<Graph> graph(new Graph(services));
  if (handles == Handles::made) graph->handle_ = services.graphs.add(graph);
  return graph;
}

Graph::~Graph() { drop_handles(); }

void Graph::make_handle(const std::shared_ptr<GraphNode>& node) const {
  if (handle_ != nullptr) node->handle_ = services_.nodes.add(node);
}

void Graph::drop_handles() {
  if (handle_ == nullptr) return;
  const auto keep = services_.graphs.remove(std::exchange(handle_, nullptr));
  for (const auto& node : nodes_) {
    services_.nodes.remove(node->handle_);
    if (const auto* child = std::get_if<ChildWork>(node->work_.get())) child->graph->drop_handles();
  }
}

std::shared_ptr<GraphNode> Graph::add(NodeWork work, std::span<const Dependency> dependencies) {
  auto node = std::make_shared<GraphNode>(*this, std::make_shared<const NodeWork>(std::move(work)));
  try {
    for (const auto& [before, data] : dependencies) connect(*before, *node, data);
  } catch (...) {
    for (const GraphEdge& edge : node->dependencies_) edge.node->dependents_.pop_back();
    throw;
  }
  make_handle(node);
  return nodes_.emplace_back(std::move(node));
}

void Graph::connect(GraphNode& from, GraphNode& to, const CUgraphEdgeData& data) {
  require(&from.graph_ == this && &to.graph_ == this, CUDA_ERROR_INVALID_VALUE, "a node of another graph");
  require(&from != &to, CUDA_ERROR_INVALID_VALUE, "a node that depends on itself");
  require(find_edge(to.dependencies_, from) == to.dependencies_.end(), CUDA_ERROR_INVALID_VALUE,
          "the dependency is there already");
  check_edge(from, to, data);
  to.dependencies_.push_back({&from, data});
  from.dependents_.push_back({&to, data});
}

void Graph::disconnect(GraphNode& from, GraphNode& to, const CUgraphEdgeData& data) {
  require(&from.graph_ == this && &to.graph_ == this, CUDA_ERROR_INVALID_VALUE, "a node of another graph");
  require(!has_memory_nodes(), CUDA_ERROR_NOT_SUPPORTED, "edges of a graph with memory nodes can't be removed");
  const auto edge = find_edge(to.dependencies_, from);
  require(edge != to.dependencies_.end() && same(edge->data, data), CUDA_ERROR_INVALID_VALUE,
          "there is no such dependency");
  to.dependencies_.erase(edge);
  from.dependents_.erase(find_edge(from.dependents_, to));
}

void Graph::remove(GraphNode& node) {
  require(!has_memory_nodes(), CUDA_ERROR_NOT_SUPPORTED, "nodes of a graph with memory nodes can't be removed");
  for (const GraphEdge& edge : node.dependencies_)
    edge.node->dependents_.erase(find_edge(edge.node->dependents_, node));
  for (const GraphEdge& edge : node.dependents_)
    edge.node->dependencies_.erase(find_edge(edge.node->dependencies_, node));
  if (const auto* child = std::get_if<ChildWork>(node.work_.get())) child->graph->drop_handles();
  services_.nodes.remove(node.handle_);
  std::erase_if(nodes_, [&](const auto& other) { return other.get() == &node; });
}

std::shared_ptr<Graph> Graph::clone(Handles handles) const {
  auto copy = create(services_, handles);
  std::unordered_map<const GraphNode*, GraphNode*> clones;
  for (const auto& node : nodes_) {
    auto work = node->work_;
    if (const auto* child = std::get_if<ChildWork>(work.get())) {
      ChildWork own{child->graph->clone(handles)};
      own.graph->make_child();
      work = std::make_shared<const NodeWork>(std::move(own));
    }
    auto twin = std::make_shared<GraphNode>(*copy, std::move(work));
    twin->original_ = node->id_;
    copy->make_handle(twin);
    clones[node.get()] = copy->nodes_.emplace_back(std::move(twin)).get();
  }
  const auto translate = [&](std::vector<GraphEdge> edges) {
    for (GraphEdge& edge : edges) edge.node = clones.at(edge.node);
    return edges;
  };
  for (const auto& node : nodes_) {
    GraphNode& twin = *clones.at(node.get());
    twin.dependencies_ = translate(node->dependencies_);
    twin.dependents_ = translate(node->dependents_);
  }
  copy->user_objects_ = user_objects_;
  return copy;
}

std::shared_ptr<GraphNode> Graph::find_clone(const GraphNode& original) const {
  const auto it =
      std::find_if(nodes_.begin(), nodes_.end(), [&](const auto& node) { return node->original() == original.id(); });
  return it != nodes_.end() ? *it : nullptr;
}

std::vector<GraphNode*> Graph::in_order() const {
  std::unordered_map<const GraphNode*, std::size_t> missing;
  std::vector<GraphNode*> order;
  order.reserve(nodes_.size());
  for (const auto& node : nodes_)
    if ((missing[node.get()] = node->dependencies_.size()) == 0) order.push_back(node.get());
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const GraphEdge& edge : order[i]->dependents_)
      if (--missing[edge.node] == 0) order.push_back(edge.node);
  require(order.size() == nodes_.size(), CUDA_ERROR_INVALID_VALUE, "the graph has a cycle");
  return order;
}

FreeWork make_free_work(GraphServices& services, CUdeviceptr address, const Graph& graph) {
  GraphMemory& memory = services.graph_memory;
  auto allocation = memory.find(address);
  require(allocation != nullptr, CUDA_ERROR_INVALID_VALUE, "not the start of memory that a graph allocates");
  const bool inside = std::any_of(graph.nodes().begin(), graph.nodes().end(), [&](const auto& node) {
    const auto* work = std::get_if<AllocateWork>(&node->work());
    return work != nullptr && work->allocation == allocation;
  });
  memory.add_free(*allocation, inside);
  return {std::move(allocation)};
}

bool Graph::has_memory_nodes() const {
  return std::any_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
    if (const auto* child = std::get_if<ChildWork>(node->work_.get())) return child->graph->has_memory_nodes();
    return node->type() == CU_GRAPH_NODE_TYPE_MEM_ALLOC || node->type() == CU_GRAPH_NODE_TYPE_MEM_FREE;
  });
}

}  // namespace softgpu::runtime
