#include <algorithm>
#include <cuprum/graph/definition.hpp>
#include <cuprum/graph/node.hpp>
#include <ostream>

#include "core/base/empty_handle.hpp"
#include "core/graph/resources.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI::detail {

GraphResource& GraphAccess::graph(const graph::NodePlace& place) {
  if (!place.graph_) core::refuse_empty("graph or graph node");
  if (place.graph_->handle) return *place.graph_;
  throw WrongState("this graph is gone: it was inside of a node that was destroyed or got another graph");
}

NodeRecord& GraphAccess::node(const graph::GraphNode& node) {
  if (!node.graph_) core::refuse_empty("graph node");
  graph(node);
  if (node.node_->handle) return *node.node_;
  throw WrongState("this graph node was destroyed");
}

NodeRecord& GraphAccess::node_of(const GraphResource& graph, const graph::GraphNode& node, const char* doing) {
  NodeRecord& record = GraphAccess::node(node);
  if (GraphAccess::graph(node).handle == graph.handle) return record;
  throw InvalidArgument(support::text(doing, " nodes of two graphs: ", node, " is of another graph"));
}

}  // namespace cuprum::inline CUPRUM_ABI::detail

namespace cuprum::inline CUPRUM_ABI::graph {

using cuprum::detail::GraphAccess;
using cuprum::detail::GraphResource;
using cuprum::detail::NodeRecord;
using driver::Api;
using driver::Doing;
using support::text;

namespace {

const char* name_of(GraphNodeType type) {
  static constexpr const char* names[] = {"kernel",
                                          "memcpy",
                                          "memset",
                                          "callback",
                                          "child graph",
                                          "empty",
                                          "event wait",
                                          "event record",
                                          "external semaphores signal",
                                          "external semaphores wait",
                                          "allocation",
                                          "free",
                                          "batch memory operations",
                                          "conditional"};
  const auto index = static_cast<std::size_t>(type);
  return index < std::size(names) ? names[index] : "unknown";
}

struct Neighbours {
  std::vector<CUgraphNode> nodes;
  std::vector<CUgraphEdgeData> edges;
};

/// Edges can have data, which the driver insists on telling.
template <auto Entry>
Neighbours neighbours_by(CUgraphNode node, const char* which) {
  const Doing doing{[&] { return text("reading the nodes ", which, " a graph node"); }};
  std::size_t count = 0;
  driver::call<Entry>(doing, node, static_cast<CUgraphNode*>(nullptr), static_cast<CUgraphEdgeData*>(nullptr), &count);
  Neighbours found{std::vector<CUgraphNode>(count), std::vector<CUgraphEdgeData>(count)};
  if (count > 0) driver::call<Entry>(doing, node, found.nodes.data(), found.edges.data(), &count);
  return found;
}

}  // namespace

GraphNodeType GraphNode::type() const {
  CUgraphNodeType type{};
  driver::call<&Api::cuGraphNodeGetType>(Doing{[] { return "reading the type of a graph node"; }},
                                         GraphAccess::node(*this).handle, &type);
  return static_cast<GraphNodeType>(type);
}

GraphDefinition GraphNode::graph() const {
  GraphAccess::graph(*this);
  return GraphAccess::definition(graph_);
}

CUgraphNode_st* GraphNode::handle() const noexcept { return node_ ? node_->handle : nullptr; }

void GraphNode::destroy() const {
  if (!is_valid()) return;
  NodeRecord& record = GraphAccess::node(*this);
  driver::call<&Api::cuGraphDestroyNode>(Doing{[&] { return text("destroying ", *this); }}, record.handle);
  core::detach(graph_->handle, record.attachment);
  graph_->forget(record.handle);
}

AdjacencySet GraphNode::pred() const { return {*this, AdjacencySet::Side::before}; }

AdjacencySet GraphNode::succ() const { return {*this, AdjacencySet::Side::behind}; }

namespace {

// Adding comes first, because that is what can be refused.
void replace_all(const AdjacencySet& set, const std::vector<GraphNode>& nodes) {
  set.update(nodes);
  std::vector<GraphNode> others;
  for (const GraphNode& node : set) {
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) others.push_back(node);
  }
  set.difference_update(others);
}

}  // namespace

void GraphNode::set_pred(const std::vector<GraphNode>& nodes) const { replace_all(pred(), nodes); }

void GraphNode::set_succ(const std::vector<GraphNode>& nodes) const { replace_all(succ(), nodes); }

const void* GraphNode::identity() const noexcept { return node_ ? node_->identity : nullptr; }

bool operator==(const GraphNode& a, const GraphNode& b) noexcept {
  if (GraphAccess::record(a) == GraphAccess::record(b)) return true;
  return a.is_valid() && a.handle() == b.handle();
}

std::ostream& operator<<(std::ostream& out, GraphNodeType type) { return out << name_of(type); }

std::ostream& operator<<(std::ostream& out, const GraphNode& node) {
  if (!GraphAccess::record(node)) return out << "an empty graph node";
  if (!node.is_valid()) return out << "a destroyed graph node";
  CUgraphNodeType type{};
  const bool known = driver::try_call<&Api::cuGraphNodeGetType>(node.handle(), &type) == CUDA_SUCCESS;
  return out << (known ? name_of(static_cast<GraphNodeType>(type)) : "graph") << " node "
             << static_cast<const void*>(node.handle());
}

// ---- Sets of neighbours ---------------------------------------------------------------------------------------------

namespace {

CUgraphNode checked_node(const GraphNode& node) { return GraphAccess::node(node).handle; }

}  // namespace

AdjacencySet::AdjacencySet(const GraphNode& node, Side side) : graph_(node.graph_), node_(node.node_), side_(side) {
  checked_node(node);
}

namespace {

Neighbours neighbours_of(const GraphNode& node, bool before) {
  const CUgraphNode handle = checked_node(node);
  return before ? neighbours_by<&Api::cuGraphNodeGetDependencies>(handle, "before")
                : neighbours_by<&Api::cuGraphNodeGetDependentNodes>(handle, "behind");
}

/// Adds or removes edges between a node and others.
template <auto Entry>
void change_edges(CUgraph graph, CUgraphNode node, bool before, Neighbours& others, const char* doing) {
  if (others.nodes.empty()) return;
  std::vector<CUgraphNode> same(others.nodes.size(), node);
  CUgraphNode* from = before ? others.nodes.data() : same.data();
  CUgraphNode* to = before ? same.data() : others.nodes.data();
  driver::call<Entry>(Doing{[&] { return std::string(doing); }}, graph, static_cast<const CUgraphNode*>(from),
                      static_cast<const CUgraphNode*>(to), static_cast<const CUgraphEdgeData*>(others.edges.data()),
                      others.nodes.size());
}

bool is_among(const std::vector<CUgraphNode>& nodes, CUgraphNode node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

}  // namespace

bool AdjacencySet::contains(const GraphNode& node) const {
  if (!node.is_valid()) return false;
  const Neighbours there = neighbours_of(GraphAccess::make(graph_, node_), side_ == Side::before);
  return is_among(there.nodes, node.handle());
}

std::size_t AdjacencySet::size() const {
  return neighbours_of(GraphAccess::make(graph_, node_), side_ == Side::before).nodes.size();
}

cuprum::detail::SnapshotIterator<GraphNode> AdjacencySet::begin() const {
  std::vector<GraphNode> nodes;
  for (CUgraphNode node : neighbours_of(GraphAccess::make(graph_, node_), side_ == Side::before).nodes)
    nodes.push_back(GraphAccess::make(graph_, graph_->record(node)));
  return cuprum::detail::SnapshotIterator<GraphNode>(std::move(nodes));
}

void AdjacencySet::add(const GraphNode& node) const { update({node}); }

void AdjacencySet::update(const std::vector<GraphNode>& nodes) const {
  const bool before = side_ == Side::before;
  const Neighbours there = neighbours_of(GraphAccess::make(graph_, node_), before);
  Neighbours added;
  for (const GraphNode& node : nodes) {
    GraphAccess::node_of(*graph_, node, "an edge between");
    if (node.handle() == node_->handle)
      throw InvalidArgument(text("an edge from ", node, " to itself: it would wait for itself"));
    if (is_among(there.nodes, node.handle()) || is_among(added.nodes, node.handle())) continue;
    added.nodes.push_back(node.handle());
    added.edges.push_back({});
  }
  change_edges<&Api::cuGraphAddDependencies>(graph_->handle, node_->handle, before, added, "adding edges to a graph");
}

void AdjacencySet::discard(const GraphNode& node) const { difference_update({node}); }

void AdjacencySet::difference_update(const std::vector<GraphNode>& nodes) const {
  const bool before = side_ == Side::before;
  const Neighbours there = neighbours_of(GraphAccess::make(graph_, node_), before);
  Neighbours removed;
  for (std::size_t i = 0; i < there.nodes.size(); ++i) {
    const bool is_named =
        std::any_of(nodes.begin(), nodes.end(), [&](const GraphNode& node) { return node.handle() == there.nodes[i]; });
    if (!is_named) continue;
    removed.nodes.push_back(there.nodes[i]);
    removed.edges.push_back(there.edges[i]);
  }
  change_edges<&Api::cuGraphRemoveDependencies>(graph_->handle, node_->handle, before, removed,
                                                "removing edges of a graph");
}

void AdjacencySet::clear() const {
  const bool before = side_ == Side::before;
  Neighbours there = neighbours_of(GraphAccess::make(graph_, node_), before);
  change_edges<&Api::cuGraphRemoveDependencies>(graph_->handle, node_->handle, before, there,
                                                "removing edges of a graph");
}

}  // namespace cuprum::inline CUPRUM_ABI::graph
