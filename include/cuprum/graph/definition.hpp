// Graphs that are put together node by node.
//
//   GraphDefinition graph;
//   auto upload = graph.memcpy(data, host, bytes);
//   auto left = upload.launch(config, scale, data, 2.0f, half);       // both after the copy, at the same time
//   auto right = upload.launch(config, shift, rest, 1.0f, half);
//   graph.join(left, right).memcpy(host, data, bytes);
//   Graph executable = graph.instantiate();
//   executable.launch(stream);
#pragma once

#include <cuprum/detail/cuda_handles.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/graph/condition.hpp>
#include <cuprum/graph/node.hpp>
#include <cuprum/graph/nodes.hpp>
#include <cuprum/graph/options.hpp>
#include <cuprum/graph/place.hpp>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cuprum::inline CUPRUM_ABI::graph {

class Graph;

/// What a picture of a graph has beside its nodes and edges.
struct GraphPictureOptions {
  std::string title = {};  ///< above the picture; empty for none
  /// How long nodes take, as somebody has measured. Their labels say it, and the way through the graph that takes
  /// longest is marked.
  std::unordered_map<GraphNode, double> milliseconds = {};
  bool handles = false;  ///< labels have the nodes' handles and the addresses of memory
};

/// A cheap handle: copies share one graph, which goes with the last of them, of the handles of its nodes and of the
/// views of graphs inside of it. What it is made of is described at NodePlace, whose functions add nodes that wait for
/// nothing. One thread at a time may use a graph.
class CUPRUM_API GraphDefinition : public NodePlace {
 public:
  /// An empty graph.
  GraphDefinition();

  /// Wraps a graph that somebody else owns, and keeps `owner` as long. The nodes that are there are known as far as the
  /// driver tells.
  static GraphDefinition from_handle(CUgraph_st* handle, std::shared_ptr<const void> owner = {});

  /// A node that does nothing and waits for nothing.
  EmptyNode empty() const;

  /// A number for conditional nodes. With a default value it has that at the beginning of each launch, else it has what
  /// it had. Each must be used by one conditional node of this graph, or of one inside of it. Throws NotSupported with
  /// drivers older than CUDA 12.3.
  GraphCondition create_condition(std::optional<unsigned> default_value = {}) const;

  /// What the graph is now, ready to be launched. Throws InvalidArgument, with the reason and the node, when it can't
  /// be: it has a cycle, say.
  Graph instantiate(const GraphCompleteOptions& options = {}) const;

  /// An independent copy. The driver copies no graph with allocation, free or conditional nodes.
  GraphDefinition clone() const;

  /// The node of this graph that a node of the graph that it was cloned from became; none when it was added to that one
  /// later, or removed here.
  std::optional<GraphNode> find_in_clone(const GraphNode& original) const;

  /// All of them, in the order in which they were added where the driver keeps that.
  std::vector<GraphNode> nodes() const;
  /// From, to.
  std::vector<std::pair<GraphNode, GraphNode>> edges() const;

  /// Has the driver write the graph in the language of Graphviz. Throws DriverError when it can't.
  void debug_dot_print(const std::string& path, const GraphDebugPrintOptions& options = {}) const;

  /// The graph in the language of Graphviz, for people: kernels by name and shape, memory by size, graphs inside of
  /// nodes as frames. The same graph gives the same text, but for handles.
  std::string to_dot(const GraphPictureOptions& options = {}) const;

  /// Has Graphviz draw that; a file of that name is replaced when that is done. Throws NotSupported where its program
  /// "dot" is not installed, SystemError when it fails or the file can't be written.
  void save_svg(const std::string& path, const GraphPictureOptions& options = {}) const;

  /// Whether it has not gone with a node that it was in.
  bool is_valid() const noexcept;
  /// Null for a graph that has gone.
  CUgraph_st* handle() const;

  /// Whether both stand for the same graph.
  friend CUPRUM_API bool operator==(const GraphDefinition& a, const GraphDefinition& b) noexcept;

 private:
  friend struct cuprum::detail::GraphAccess;
  friend struct std::hash<GraphDefinition>;
  explicit GraphDefinition(std::shared_ptr<cuprum::detail::GraphResource> graph)
      : NodePlace(std::move(graph), nullptr) {}
  const void* identity() const noexcept;
};

/// Prints "graph 0x55d0c8a0 of 3 nodes".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const GraphDefinition& graph);

}  // namespace cuprum::inline CUPRUM_ABI::graph

/// By which graph it stands for. It stays the same when the graph goes.
template <>
struct std::hash<cuprum::graph::GraphDefinition> {
  std::size_t operator()(const cuprum::graph::GraphDefinition& graph) const noexcept {
    return std::hash<const void*>()(graph.identity());
  }
};
