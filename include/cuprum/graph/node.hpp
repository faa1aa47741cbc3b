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
  /// False also for a node that was destroyed.
  bool contains(const GraphNode& node) const;
  /// How many nodes; each call asks the driver.
  std::size_t size() const;
  /// Whether there is an edge on this side; asks the driver, too.
  bool empty() const { return size() == 0; }

  /// Goes over the nodes that were in the set when it was called.
  cuprum::detail::SnapshotIterator<GraphNode> begin() const;
  /// Where each of those iterations ends.
  cuprum::detail::SnapshotEnd end() const { return {}; }

  /// Adds an edge, unless it is there already. Throws DriverError when the driver refuses it, InvalidArgument for one
  /// from a node to itself. Drivers may take edges that make a cycle; instantiate() refuses those.
  void add(const GraphNode& node) const;
  /// The same for several; when one is refused none is added.
  void update(const std::vector<GraphNode>& nodes) const;

  /// Removes an edge; does nothing when it is not there.
  void discard(const GraphNode& node) const;
  /// Removes those of these edges that are there.
  void difference_update(const std::vector<GraphNode>& nodes) const;
  /// Removes all edges on this side.
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

  /// What it does, as the driver says. Throws InvalidArgument for a node that was destroyed.
  GraphNodeType type() const;
  /// The graph that it is in: the inner one, for a node of a child graph or of a conditional body.
  GraphDefinition graph() const;
  /// Null for one that was destroyed.
  CUgraphNode_st* handle() const noexcept;
  /// Whether it has not been destroyed, by itself or with a graph that it was in.
  bool is_valid() const noexcept { return handle() != nullptr; }

  /// Takes the node and its edges out of the graph, for all copies. Graphs that were made executable before are not
  /// changed. Does nothing when that was done.
  void destroy() const;

  /// The nodes that it waits for.
  AdjacencySet pred() const;
  /// The nodes that wait for it.
  AdjacencySet succ() const;
  /// Makes it wait for these, and no others. New edges are added first: when one is refused nothing changes.
  void set_pred(const std::vector<GraphNode>& nodes) const;
  /// Makes these wait for it, and no others, in the same way.
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
  const void* identity() const noexcept;
};

/// Prints "kernel node 0x55d0c8a0".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const GraphNode& node);
/// Prints what is before "node" there: "kernel", "memcpy", "allocation"…
CUPRUM_API std::ostream& operator<<(std::ostream& out, GraphNodeType type);

}  // namespace cuprum::inline CUPRUM_ABI::graph

/// By which node it stands for. It stays the same when the node is destroyed.
template <>
struct std::hash<cuprum::graph::GraphNode> {
  std::size_t operator()(const cuprum::graph::GraphNode& node) const noexcept {
    return std::hash<const void*>()(node.identity());
  }
};
