// Graphs that are ready to run.
//
//   Graph graph = definition.instantiate();
//   graph.launch(stream);
//   graph[scale_node].update(config, scale, other_data, 2.0f, n);    // for later launches
//   graph.launch(stream);
#pragma once

#include <cstddef>
#include <cuprum/detail/cuda_handles.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/graph/definition.hpp>
#include <cuprum/graph/nodes.hpp>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace cuprum::inline CUPRUM_ABI::detail {
struct GraphExecSlot;
}

namespace cuprum::inline CUPRUM_ABI::graph {

class GraphBuilder;

/// A node of a graph that is ready to run. Made by Graph::operator[] of the node that it was instantiated from. What is
/// changed holds for later launches; the definition's node is not changed. Functions throw InvalidArgument when the
/// graph was closed or the definition's node destroyed, DriverError when the driver refuses. Drivers let the context
/// and the kinds of memory of a node stay what they are.
class CUPRUM_API ExecutableGraphNode {
 public:
  /// The node of the definition.
  const GraphNode& node() const { return node_; }

 protected:
  friend class Graph;
  /// For Graph::operator[].
  ExecutableGraphNode(std::shared_ptr<cuprum::detail::GraphExecSlot> graph, const GraphNode& node)
      : graph_(std::move(graph)), node_(node) {}

  std::shared_ptr<cuprum::detail::GraphExecSlot> graph_;  ///< the graph that it is in
  GraphNode node_;                                        ///< the node of the definition
};

/// A node of a kind that can be left out: kernels, copies and fills.
class CUPRUM_API ExecutableOptionalNode : public ExecutableGraphNode {
 public:
  /// Takes disable() back.
  void enable() const { set_enabled(true); }
  /// Makes the node do nothing; others still wait for it, and it for others.
  void disable() const { set_enabled(false); }
  /// True unless it was disabled.
  bool is_enabled() const;

 protected:
  /// For Graph::operator[].
  using ExecutableGraphNode::ExecutableGraphNode;

 private:
  void set_enabled(bool enabled) const;
};

/// See KernelNode.
class CUPRUM_API ExecutableKernelNode : public ExecutableOptionalNode {
 public:
  /// Another shape, kernel and arguments, as launch() takes them. Throws InvalidArgument when clusters or being
  /// cooperative would change, or have changed in the definition since: that takes another executable graph.
  template <typename... Arguments>
  void update(const LaunchConfig& config, const Kernel& kernel, const Arguments&... arguments) const {
    cuprum::detail::use_arguments(
        [&](const auto& list, auto buffers) { replace(config, kernel, list, std::move(buffers)); }, arguments...);
  }
  /// The same with arguments known at run time, as NodePlace::launch takes them.
  void update(const LaunchConfig& config, const Kernel& kernel, const KernelArguments& arguments) const;

 private:
  friend class Graph;
  using ExecutableOptionalNode::ExecutableOptionalNode;
  void replace(const LaunchConfig& config, const Kernel& kernel, const cuprum::detail::ArgumentList& arguments,
               cuprum::detail::KeptBuffers buffers) const;
};

/// See MemsetNode.
class CUPRUM_API ExecutableMemsetNode : public ExecutableOptionalNode {
 public:
  /// See NodePlace::memset.
  template <cuprum::detail::Pattern T>
  void update(const Operand& dst, std::type_identity_t<T> value, std::size_t width, std::size_t height = 1,
              std::size_t pitch = 0) const {
    replace(dst, cuprum::detail::FillPattern::of(value), width, height, pitch);
  }
  /// The same with the bytes of a value, of which there must be 1, 2 or 4.
  void update(const Operand& dst, std::span<const std::byte> value, std::size_t width, std::size_t height = 1,
              std::size_t pitch = 0) const {
    replace(dst, cuprum::detail::FillPattern::of_bytes(value), width, height, pitch);
  }

 private:
  friend class Graph;
  using ExecutableOptionalNode::ExecutableOptionalNode;
  void replace(const Operand& dst, cuprum::detail::FillPattern pattern, std::size_t width, std::size_t height,
               std::size_t pitch) const;
};

/// See MemcpyNode.
class CUPRUM_API ExecutableMemcpyNode : public ExecutableOptionalNode {
 public:
  /// See NodePlace::memcpy.
  void update(const Operand& dst, const Operand& src, std::size_t size) const;
  /// The same in two or three dimensions.
  void update(const Operand& dst, const Operand& src, const CopyExtent& extent) const;

 private:
  friend class Graph;
  using ExecutableOptionalNode::ExecutableOptionalNode;
};

/// See ChildGraphNode.
class CUPRUM_API ExecutableChildGraphNode : public ExecutableGraphNode {
 public:
  /// `child` must have the nodes and edges of the one that it replaces.
  void update(const GraphDefinition& child) const;

 private:
  friend class Graph;
  using ExecutableGraphNode::ExecutableGraphNode;
};

/// See EventRecordNode.
class CUPRUM_API ExecutableEventRecordNode : public ExecutableGraphNode {
 public:
  /// Records another event. The graph keeps it.
  void update(const Event& event) const;

 private:
  friend class Graph;
  using ExecutableGraphNode::ExecutableGraphNode;
};

/// See EventWaitNode.
class CUPRUM_API ExecutableEventWaitNode : public ExecutableGraphNode {
 public:
  /// Waits for another event. The graph keeps it.
  void update(const Event& event) const;

 private:
  friend class Graph;
  using ExecutableGraphNode::ExecutableGraphNode;
};

/// See HostCallbackNode.
class CUPRUM_API ExecutableHostCallbackNode : public ExecutableGraphNode {
 public:
  /// Another function; see NodePlace::callback.
  void update(std::function<void()> function) const;
  /// The same with a C function; `owner`, if there is one, is kept.
  void update(void (*function)(void*), void* user_data, std::shared_ptr<const void> owner = {}) const;

 private:
  friend class Graph;
  using ExecutableGraphNode::ExecutableGraphNode;
};

/// A cheap handle: copies share one executable graph, which is released when the last copy goes or at close(). It needs
/// neither its definition nor what its nodes were given: it keeps that itself. Releasing does not wait; what was
/// launched still runs, and keeps what it uses. One thread at a time may use it. Made by GraphDefinition::instantiate
/// and GraphBuilder::complete.
class CUPRUM_API Graph {
 public:
  /// An empty handle, for a variable that gets its value later; to use it before throws InvalidArgument.
  Graph() = default;

  /// Queues the whole graph on the stream as one piece of work and returns. It also waits for the graph's launch before
  /// this one, wherever that was.
  void launch(const Stream& stream) const;

  /// Does what the first launch would otherwise do beside running it, in the order of the stream.
  void upload(const Stream& stream) const;

  /// Makes the graph do what `source` says, from the next launch on. It must have the same nodes and edges as the one
  /// that this was made of. Throws InvalidArgument, with the reason and the node, when it hasn't; nothing changes then.
  void update(const GraphDefinition& source) const;

  /// The same with what a builder has captured; it must have ended.
  void update(const GraphBuilder& source) const;

  /// A view of a node, by the node of the definition that the graph was made of.
  ExecutableKernelNode operator[](const KernelNode& node) const { return {shared_, node}; }
  /// The same for a fill.
  ExecutableMemsetNode operator[](const MemsetNode& node) const { return {shared_, node}; }
  /// The same for a copy.
  ExecutableMemcpyNode operator[](const MemcpyNode& node) const { return {shared_, node}; }
  /// The same for a child graph.
  ExecutableChildGraphNode operator[](const ChildGraphNode& node) const { return {shared_, node}; }
  /// The same for a record of an event.
  ExecutableEventRecordNode operator[](const EventRecordNode& node) const { return {shared_, node}; }
  /// The same for a wait for an event.
  ExecutableEventWaitNode operator[](const EventWaitNode& node) const { return {shared_, node}; }
  /// The same for a function of the host.
  ExecutableHostCallbackNode operator[](const HostCallbackNode& node) const { return {shared_, node}; }

  /// What is launched by this handle, and not by launch(), is unknown to the graph: what nodes used before they were
  /// updated is then kept until the graph goes.
  CUgraphExec_st* handle() const;
  /// Whether it can be used: not closed, not empty. Unlike handle(), this changes nothing.
  bool is_open() const noexcept;

  /// Releases the graph for all copies; later use throws InvalidArgument. Closing twice does nothing. May be called
  /// while a launch is running.
  void close();

  /// Whether both stand for the same graph; a closed one equals its copies only.
  friend CUPRUM_API bool operator==(const Graph& a, const Graph& b) noexcept;

 private:
  friend struct cuprum::detail::GraphAccess;
  friend struct std::hash<Graph>;
  explicit Graph(std::shared_ptr<cuprum::detail::GraphExecSlot> shared) : shared_(std::move(shared)) {}
  const void* identity() const noexcept;
  std::shared_ptr<cuprum::detail::GraphExecSlot> shared_;
};

/// Prints "executable graph 0x55d0c8a0".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const Graph& graph);

}  // namespace cuprum::inline CUPRUM_ABI::graph

/// By which graph it stands for.
template <>
struct std::hash<cuprum::graph::Graph> {
  std::size_t operator()(const cuprum::graph::Graph& graph) const noexcept {
    return std::hash<const void*>()(graph.identity());
  }
};
