#include "softgpu/runtime/graphs/graph.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/code/module.hpp"
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
  graph_.check_work(work);
  for (const auto& inside : graphs_inside(*work_)) inside->drop_handles();
  work_ = std::make_shared<const NodeWork>(std::move(work));
  graph_.adopt_inside(*work_);
}

void GraphNode::set_variable(std::shared_ptr<ConditionalVariable> variable) {
  auto work = std::get<ConditionalWork>(*work_);
  work.variable = std::move(variable);
  work_ = std::make_shared<const NodeWork>(std::move(work));
}

std::shared_ptr<Graph> Graph::create(GraphServices& services, Handles handles) {
  const std::shared_ptr<Graph> graph(new Graph(services));
  if (handles == Handles::made) graph->handle_ = services.graphs.add(graph);
  return graph;
}

std::shared_ptr<Graph> Graph::create_body(std::shared_ptr<Context> context) const {
  auto body = create(services_);
  body->is_child_ = true;
  body->family_ = family_;
  body->body_context_ = std::move(context);
  return body;
}

Graph::~Graph() { drop_handles(); }

// A graph that becomes a part of another one: what is inside of it does, too.
void Graph::join(const std::shared_ptr<Family>& family, const std::shared_ptr<Context>& body_context) {
  if (family != family_)
    family->conditionals.insert(family->conditionals.end(), conditionals().begin(), conditionals().end());
  family_ = family;
  body_context_ = body_context;
  for (const auto& node : nodes_) adopt_inside(node->work());
}

void Graph::adopt_inside(const NodeWork& work) const {
  for (const auto& inside : graphs_inside(work)) {
    inside->is_child_ = true;
    inside->join(family_, body_context_ != nullptr ? body_context_ : inside->body_context_);
  }
}

// What bodies of conditional nodes may do. NVIDIA's driver takes functions of the host and external semaphores there,
// and refuses the graph when it is instantiated.
void Graph::check_work(const NodeWork& work) const {
  if (body_context_ == nullptr) return;
  const CUgraphNodeType type = type_of(work);
  require(type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_EMPTY || type == CU_GRAPH_NODE_TYPE_GRAPH ||
              type == CU_GRAPH_NODE_TYPE_MEMSET || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
              type == CU_GRAPH_NODE_TYPE_CONDITIONAL || type == CU_GRAPH_NODE_TYPE_HOST ||
              type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL || type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT,
          CUDA_ERROR_NOT_SUPPORTED,
          "the body of a conditional node has kernels, copies, sets, empty nodes, child graphs and conditional nodes");
  if (const auto* kernel = std::get_if<KernelWork>(&work))
    require(&kernel->module->context() == body_context_.get(), CUDA_ERROR_INVALID_VALUE,
            "the kernel and the conditional node that it is inside of are of different contexts");
  if (const auto* conditional = std::get_if<ConditionalWork>(&work))
    require(conditional->context == body_context_, CUDA_ERROR_INVALID_VALUE,
            "conditional nodes inside of one another are of different contexts");
  for (const auto& inside : graphs_inside(work))
    for (const auto& node : inside->nodes()) check_work(node->work());
}

void Graph::make_handle(const std::shared_ptr<GraphNode>& node) const {
  if (handle_ != nullptr) node->handle_ = services_.nodes.add(node);
}

void Graph::drop_handles() {
  if (handle_ == nullptr) return;
  const auto keep = services_.graphs.remove(std::exchange(handle_, nullptr));
  for (const auto& node : nodes_) {
    services_.nodes.remove(node->handle_);
    for (const auto& inside : graphs_inside(*node->work_)) inside->drop_handles();
  }
}

void Graph::add_conditional(std::shared_ptr<ConditionalVariable> variable) {
  const std::scoped_lock lock(family_->mutex);
  conditionals().push_back(std::move(variable));
}

std::shared_ptr<ConditionalVariable> Graph::find_conditional(CUgraphConditionalHandle handle) const {
  const std::scoped_lock lock(family_->mutex);
  const auto it = std::find_if(conditionals().begin(), conditionals().end(),
                               [&](const auto& variable) { return variable->handle() == handle; });
  return it != conditionals().end() ? *it : nullptr;
}

std::shared_ptr<GraphNode> Graph::add(NodeWork work, std::span<const Dependency> dependencies) {
  auto node = std::make_shared<GraphNode>(*this, std::make_shared<const NodeWork>(std::move(work)));
  const std::scoped_lock lock(family_->mutex);
  try {
    check_work(*node->work_);
    for (const auto& [before, data] : dependencies) connect(*before, *node, data);
    note_free(*node->work_);  // last: it is not taken back
  } catch (...) {
    for (const GraphEdge& edge : node->dependencies_) edge.node->dependents_.pop_back();
    for (const auto& inside : graphs_inside(*node->work_))
      if (inside->is_child_) inside->drop_handles();  // made for the node; one that was to be moved stays its owner's
    throw;
  }
  adopt_inside(*node->work_);
  make_handle(node);
  return nodes_.emplace_back(std::move(node));
}

// Memory that a node of the graph which allocates it frees is freed by no other.
void Graph::note_free(const NodeWork& work) const {
  const auto* free = std::get_if<FreeWork>(&work);
  if (free == nullptr) return;
  const bool is_allocated_here = std::any_of(nodes_.begin(), nodes_.end(), [&](const auto& node) {
    const auto* allocate = std::get_if<AllocateWork>(&node->work());
    return allocate != nullptr && allocate->allocation == free->allocation;
  });
  services_.graph_memory.add_free(*free->allocation, is_allocated_here);
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
  require(updatable(node.work()) == nullptr, CUDA_ERROR_INVALID_VALUE,
          "a node that kernels can change can't be removed");
  for (const GraphEdge& edge : node.dependencies_)
    edge.node->dependents_.erase(find_edge(edge.node->dependents_, node));
  for (const GraphEdge& edge : node.dependents_)
    edge.node->dependencies_.erase(find_edge(edge.node->dependencies_, node));
  for (const auto& inside : graphs_inside(*node.work_)) inside->drop_handles();
  services_.nodes.remove(node.handle_);
  std::erase_if(nodes_, [&](const auto& other) { return other.get() == &node; });
}

// A graph that programs see can't have conditional nodes, so that there is nothing for its numbers to decide.
std::shared_ptr<Graph> Graph::clone(Handles handles) const {
  auto family = std::make_shared<Family>();
  if (handles == Handles::none) family->conditionals = conditionals();
  return clone(handles, family);
}

std::shared_ptr<Graph> Graph::clone(Handles handles, const std::shared_ptr<Family>& family) const {
  auto copy = create(services_, handles);
  copy->family_ = family;
  copy->body_context_ = body_context_;
  const auto inside_of_copy = [&](const std::shared_ptr<Graph>& graph) {
    auto own = graph->clone(handles, family);
    own->make_child();
    return own;
  };
  std::unordered_map<const GraphNode*, GraphNode*> clones;
  for (const auto& node : nodes_) {
    auto work = node->work_;
    if (const auto* child = std::get_if<ChildWork>(work.get())) {
      work = std::make_shared<const NodeWork>(ChildWork{inside_of_copy(child->graph)});
    } else if (const auto* conditional = std::get_if<ConditionalWork>(work.get())) {
      ConditionalWork own{conditional->context, conditional->variable, conditional->type, {}, {}};
      for (const auto& body : conditional->bodies) own.bodies.push_back(inside_of_copy(body));
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
  std::vector<GraphNode*> order = as_far_as_ordered();
  require(order.size() == nodes_.size(), CUDA_ERROR_INVALID_VALUE, "the graph has a cycle");
  return order;
}

const GraphNode* Graph::node_on_cycle() const {
  const std::vector<GraphNode*> order = as_far_as_ordered();
  if (order.size() == nodes_.size()) return nullptr;
  const std::unordered_set<const GraphNode*> ordered(order.begin(), order.end());
  const auto is_left = [&](const GraphNode& node) { return !ordered.contains(&node); };
  // What is left depends on something that is left, so that going back comes to a cycle.
  const GraphNode* node =
      std::find_if(nodes_.begin(), nodes_.end(), [&](const auto& one) { return is_left(*one); })->get();
  for (std::unordered_set<const GraphNode*> seen; seen.insert(node).second;) {
    const auto& edges = node->dependencies();
    node = std::find_if(edges.begin(), edges.end(), [&](const GraphEdge& edge) { return is_left(*edge.node); })->node;
  }
  return node;
}

// Without those on cycles and behind them.
std::vector<GraphNode*> Graph::as_far_as_ordered() const {
  std::unordered_map<const GraphNode*, std::size_t> missing;
  std::vector<GraphNode*> order;
  order.reserve(nodes_.size());
  for (const auto& node : nodes_) {
    missing[node.get()] = node->dependencies_.size();
    if (node->dependencies_.empty()) order.push_back(node.get());
  }
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const GraphEdge& edge : order[i]->dependents_)
      if (--missing[edge.node] == 0) order.push_back(edge.node);
  return order;
}

FreeWork make_free_work(const GraphServices& services, CUdeviceptr address) {
  auto allocation = services.graph_memory.find(address);
  require(allocation != nullptr, CUDA_ERROR_INVALID_VALUE, "not the start of memory that a graph allocates");
  return {std::move(allocation)};
}

bool Graph::has_memory_nodes() const {
  return std::any_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
    if (const auto* child = std::get_if<ChildWork>(node->work_.get())) return child->graph->has_memory_nodes();
    return node->type() == CU_GRAPH_NODE_TYPE_MEM_ALLOC || node->type() == CU_GRAPH_NODE_TYPE_MEM_FREE;
  });
}

bool Graph::has_conditional_nodes() const {
  return std::any_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
    if (const auto* child = std::get_if<ChildWork>(node->work_.get())) return child->graph->has_conditional_nodes();
    return node->type() == CU_GRAPH_NODE_TYPE_CONDITIONAL;
  });
}

}  // namespace softgpu::runtime
