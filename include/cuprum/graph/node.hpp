// Nodes of graphs: what they have in common.
//
//   KernelNode first = graph.launch(config, scale, data, 2.0f, n);
//   KernelNode second = first.launch(config, scale, data, 3.0f, n);   // after it
//   second.pred().discard(first);                                     // not any more
#pragma once

#include <cstddef>
#include <cuprum/detail/cuda_handles.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/snapshot_iterator.hpp>
#include <cuprum/graph/options.hpp>
#include <cuprum/graph/place.hpp>
#include <functional>
#include <iosfwd>
#include <optional>
#include <vector>

namespace cuprum::inline CUPRUM_ABI::graph {

/// The nodes before or behind a node, as a set. A live view: reads ask the driver, writes tell it, nothing is
/// remembered. It keeps the graph. Functions throw InvalidArgument for a node that was destroyed or is of another
/// graph.
class CUPRUM_API AdjacencySet {
 public:
  bool contains(const GraphNode& node) const;
  std::size_t size() const;
  bool empty() const { return size() == 0; }

  /// Goes over the nodes that were in the set when it was called.
  cuprum::detail::SnapshotIterator<GraphNode> begin() const;
  cuprum::detail::SnapshotEnd end() const { return {}; }

  /// What is there already is left out. Throws DriverError for edges that the driver refuses, and adds none of them.
  /// Drivers may take edges that make a cycle; instantiate() refuses those.
  void add(const GraphNode& node) const;
  void update(const std::vector<GraphNode>& nodes) const;

  /// What is not there is left out.
  void discard(const GraphNode& node) const;
  void difference_update(const std::vector<GraphNode>& nodes) const;
  void clear() const;

 private:
  friend class GraphNode;
  enum class Side { before, behind };
  AdjacencySet(const GraphNode& node, Side side);
  std::shared_ptr<cuprum::detail::GraphResource> graph_;
  std::shared_ptr<cuprum::detail::NodeRecord> node_;
  Side side_;
};

/// A cheap handle: copies stand for one node, and keep the graph that it is in. Made by the functions of NodePlace, and
/// by GraphDefinition::nodes.
class CUPRUM_API GraphNode : public NodePlace {
 public:
  /// An empty handle, for a variable that gets its value later; to use it before throws InvalidArgument.
  GraphNode() = default;

  GraphNodeType type() const;
  GraphDefinition graph() const;
  /// Null for one that was destroyed.
  CUgraphNode_st* handle() const noexcept;
  /// Whether it has not been destroyed, by itself or with a graph that it was in.
  bool is_valid() const noexcept { return handle() != nullptr; }

  /// Takes the node and its edges out of the graph, for all copies. Graphs that were made executable before are not
  /// changed. Does nothing when that was done.
  void destroy() const;

  /// The nodes that it waits for, and those that wait for it.
  AdjacencySet pred() const;
  AdjacencySet succ() const;
  /// Makes these the ones, and no others.
  void set_pred(const std::vector<GraphNode>& nodes) const;
  void set_succ(const std::vector<GraphNode>& nodes) const;

  /// The same node as one of a kind that has more functions, such as as<KernelNode>(); none when it is not of that
  /// kind.
  template <typename Kind>
  std::optional<Kind> as() const {
    if (!Kind::is_kind_of(*this)) return std::nullopt;
    Kind kind;
    static_cast<GraphNode&>(kind) = *this;  // kinds have functions, and nothing else, of their own
    return kind;
  }

  /// Whether both stand for the same node.
  friend CUPRUM_API bool operator==(const GraphNode& a, const GraphNode& b) noexcept;

 private:
  friend struct cuprum::detail::GraphAccess;
  friend class AdjacencySet;
  friend struct std::hash<GraphNode>;
  GraphNode(std::shared_ptr<cuprum::detail::GraphResource> graph, std::shared_ptr<cuprum::detail::NodeRecord> node)
      : NodePlace(std::move(graph), std::move(node)) {}
};

/// Prints "kernel node 0x55d0c8a0".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const GraphNode& node);
CUPRUM_API std::ostream& operator<<(std::ostream& out, GraphNodeType type);

}  // namespace cuprum::inline CUPRUM_ABI::graph

template <>
struct std::hash<cuprum::graph::GraphNode> {
  std::size_t operator()(const cuprum::graph::GraphNode& node) const noexcept {
    return std::hash<const void*>()(node.node_.get());
  }
};
