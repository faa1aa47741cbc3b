// What the handles of graphs hold.
//
// A graph of the driver's has graphs inside of it: those in child graph nodes and in conditional nodes, which go with
// their nodes. Handles to any of them keep the outermost one, because that is what is destroyed in the end.
#pragma once

#include <atomic>
#include <cuprum/driver.hpp>
#include <cuprum/graph.hpp>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/base/context.hpp"
#include "core/base/deferred.hpp"
#include "core/graph/host_function.hpp"
#include "core/stream/attachment.hpp"
#include "core/stream/resources.hpp"
#include "support/counted.hpp"

namespace cuprum::core {

/// What the driver does not tell of a conditional node.
struct KnownConditional {
  graph::GraphCondition condition;
  graph::GraphConditionalType type;
  std::vector<CUgraph> bodies;
};

/// What a node was given, as far as the driver doesn't tell it or tells only a raw handle.
struct KnownOperands {
  Kernel kernel = {};
  Event event = {};
  std::shared_ptr<const HostFunction> callback = {};
  std::optional<KnownConditional> conditional = {};
};

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI::detail {

/// One for each node that a handle was made for; all handles share it.
struct NodeRecord {
  CUgraphNode handle;                     ///< null when the node is destroyed
  core::GraphAttachment attachment = {};  ///< what the graph keeps for this node
  core::KnownOperands known = {};
  CUgraphNode identity = handle;  ///< the handle, also when the node is destroyed: what hashes are made of
  unsigned long long last_change_of_fixed_attributes = 0;  ///< see node_attributes.hpp

  /// The driver has destroyed the node.
  void invalidate() noexcept { *this = NodeRecord{.handle = nullptr, .identity = identity}; }
};

/// A graph of the driver's, or one inside of it.
struct GraphResource : support::Counted<GraphResource> {
  enum class Ownership { ours, foreign, inner };

  GraphResource(CUgraph the_handle, Ownership the_ownership, std::shared_ptr<const void> the_owner = {});
  GraphResource(const GraphResource&) = delete;
  GraphResource& operator=(const GraphResource&) = delete;
  ~GraphResource();

  /// The record of a node that the driver knows.
  std::shared_ptr<NodeRecord> record(CUgraphNode node);

  /// A graph in one of the nodes.
  GraphResource& inner(CUgraph the_handle, CUgraphNode in_node);

  /// The driver has destroyed the node, with the graphs in it.
  void forget(CUgraphNode node) noexcept;
  /// The graphs in the node, which stays.
  void forget_inner(CUgraphNode node) noexcept;
  /// The driver has destroyed the whole graph.
  void invalidate() noexcept;

  /// The driver's graph is known now.
  void adopt(CUgraph the_handle) noexcept { handle = identity = the_handle; }

  CUgraph handle;    ///< null when it has gone with a node that it was in
  CUgraph identity;  ///< the handle, also then: what hashes are made of
  Ownership ownership;
  const std::shared_ptr<const void> owner;  ///< of a foreign graph
  std::unordered_map<CUgraphNode, std::shared_ptr<NodeRecord>> records;

  struct Inner {
    CUgraphNode in_node;
    std::unique_ptr<GraphResource> graph;
  };
  std::vector<Inner> inner_graphs;
  /// Inner graphs that are gone; handles may still point to them.
  std::vector<std::unique_ptr<GraphResource>> gone;
};

/// An executable graph.
struct GraphExecResource : support::Counted<GraphExecResource> {
  GraphExecResource(const core::ContextRecord& the_context, CUgraphExec the_handle,
                    std::shared_ptr<core::UpdatedOperands> the_updated) noexcept
      : context(the_context), handle(the_handle), updated(std::move(the_updated)) {}
  GraphExecResource(const GraphExecResource&) = delete;
  GraphExecResource& operator=(const GraphExecResource&) = delete;
  ~GraphExecResource();

  std::uint64_t number() const noexcept { return reinterpret_cast<std::uintptr_t>(handle); }

  const core::ContextRecord& context;
  const CUgraphExec handle;
  std::shared_ptr<core::UpdatedOperands> updated;

  /// Where it was launched last: launches of one graph run one after the other, so that when this one is done all are.
  Kept<StreamResource> last_stream = {};
  bool launched_by_others = false;            ///< or may be: then nothing is known of what runs
  std::vector<DevicePointer> allocates = {};  ///< buffers that its nodes allocate
  unsigned long long attributes_as_of = 0;    ///< see node_attributes.hpp
};

/// What all copies of a Graph share. Whoever launches the graph keeps it until it is queued, also when it is closed
/// meanwhile.
struct GraphExecSlot {
  Shared<GraphExecResource> shared = {};

  /// Nothing when it was closed.
  Kept<GraphExecResource> try_keep() const noexcept {
    SharedState* state = shared.get();
    return state && state->try_keep() ? Kept<GraphExecResource>(state) : Kept<GraphExecResource>();
  }
};

struct GraphBuilderResource;

/// What has to be done before a capture ends, and what has to wait until then: drivers need not survive it otherwise.
/// Threads may capture into the builders of one split() and into bodies: while they do, whoever looks at what is here,
/// or at what the library knows of the graph, holds the mutex. The capture's end is one thread's.
struct CaptureInProgress {
  std::mutex mutex = {};
  std::list<GraphBuilderResource*> bodies = {};    ///< that are being captured, too: to be ended first
  std::vector<Kept<StreamResource>> streams = {};  ///< that take part, beginning with the first: to be destroyed
  std::vector<CUgraphNode> unwanted = {};          ///< which were added, but failed behind that: to be removed
  std::vector<core::GraphAttachment> kept = {};    ///< by the graph, for what was captured
  bool has_broken_body = false;                    ///< one whose capture was given up: the graph is built anew
  bool has_lost_body = false;                      ///< one of those whose builder is gone
  /// The driver has destroyed a body, because its capture broke. NVIDIA's does not survive that the graph around it is
  /// destroyed, too, or that a capture ends by which it would be.
  bool has_destroyed_body = false;
  std::atomic<bool> has_ended = false;  ///< which builders from split() learn here, perhaps in other threads
};

/// A graph in the making by capture.
struct GraphBuilderResource : support::Counted<GraphBuilderResource> {
  enum class Kind {
    primary,  ///< has begun the capture, and gets the graph
    forked,   ///< takes part in it, and must be joined
    body      ///< captures into a graph that is there already
  };
  enum class State { not_started, capturing, ended };

  GraphBuilderResource(Stream the_stream, Kind the_kind, State the_state, std::shared_ptr<GraphResource> the_graph = {})
      : stream(std::move(the_stream)), kind(the_kind), state(the_state), graph(std::move(the_graph)) {}
  GraphBuilderResource(const GraphBuilderResource&) = delete;
  GraphBuilderResource& operator=(const GraphBuilderResource&) = delete;
  /// Ends the capture.
  ~GraphBuilderResource();

  /// Whether what is queued on its stream becomes nodes, as far as the library knows.
  bool is_capturing() const { return state == State::capturing && !is_left_over(); }
  /// Whether it is from split() and was not joined before the capture ended: nothing can be done with it any more.
  bool is_left_over() const { return kind == Kind::forked && capture && capture->has_ended; }

  Stream stream;
  const Kind kind;
  State state;                                      ///< one from split() begins and stays `capturing`
  std::shared_ptr<CaptureInProgress> capture = {};  ///< shared with the builders from split()
  std::shared_ptr<CaptureInProgress> outer = {};    ///< for a body, that of the graph which it is in
  std::shared_ptr<GraphResource> graph;             ///< that is captured into; the driver's own until the capture ends
  unsigned long long failures_before_begin = 0;     ///< see driver/capture_failures.hpp
  bool is_broken_body = false;                      ///< which `outer` knows
};

/// What all copies of a GraphBuilder share. An operation keeps the resource to its end, also when another thread closes
/// the builder meanwhile.
class GraphBuilderSlot {
 public:
  explicit GraphBuilderSlot(std::unique_ptr<GraphBuilderResource> resource) : resource_(std::move(resource)) {}

  /// Nothing when it was closed.
  std::shared_ptr<GraphBuilderResource> get() const noexcept {
    std::lock_guard lock(mutex_);
    return resource_;
  }

  void close() noexcept {
    std::shared_ptr<GraphBuilderResource> mine;  // before the lock, and so destroyed after it
    std::lock_guard lock(mutex_);
    mine.swap(resource_);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<GraphBuilderResource> resource_;
};

/// The library's own way into the classes of graphs.
struct GraphAccess {
  /// Throws InvalidArgument when the graph is gone.
  static GraphResource& graph(const graph::NodePlace& place);
  static const std::shared_ptr<GraphResource>& shared_graph(const graph::NodePlace& place) { return place.graph_; }
  /// Throws InvalidArgument when the node was destroyed or the handle is empty.
  static NodeRecord& node(const graph::GraphNode& node);
  /// The same for a node that must be of this graph, whichever wrapper of it made the handle; `doing` begins the
  /// message: "joining".
  static NodeRecord& node_of(const GraphResource& graph, const graph::GraphNode& node, const char* doing);
  static const std::shared_ptr<NodeRecord>& record(const graph::NodePlace& place) { return place.node_; }

  static graph::GraphDefinition definition(std::shared_ptr<GraphResource> graph) {
    return graph::GraphDefinition(std::move(graph));
  }
  /// A graph inside of another, of whose handle `outer` is one.
  static graph::GraphDefinition definition(const std::shared_ptr<GraphResource>& outer, GraphResource& inner) {
    return graph::GraphDefinition(std::shared_ptr<GraphResource>(outer, &inner));
  }
  static graph::GraphNode make(std::shared_ptr<GraphResource> graph, std::shared_ptr<NodeRecord> node) {
    return graph::GraphNode(std::move(graph), std::move(node));
  }
  template <typename Kind>
  static Kind make(std::shared_ptr<GraphResource> graph, std::shared_ptr<NodeRecord> node) {
    Kind kind;
    static_cast<graph::GraphNode&>(kind) = make(std::move(graph), std::move(node));
    return kind;
  }

  static graph::GraphBuilder builder(std::unique_ptr<GraphBuilderResource> resource) {
    return graph::GraphBuilder(core::make_deferrable<GraphBuilderSlot>(std::move(resource)));
  }
  /// Throws InvalidArgument when the builder is closed or empty.
  static std::shared_ptr<GraphBuilderResource> builder(const graph::GraphBuilder& builder);
  /// Nothing when the builder is closed or empty.
  static std::shared_ptr<GraphBuilderResource> open_builder(const graph::GraphBuilder& builder) noexcept {
    return builder.shared_ ? builder.shared_->get() : nullptr;
  }

  static graph::Graph executable(std::shared_ptr<GraphExecSlot> slot) { return graph::Graph(std::move(slot)); }
  static const std::shared_ptr<GraphExecSlot>& slot(const graph::Graph& graph) { return graph.shared_; }
};

}  // namespace cuprum::inline CUPRUM_ABI::detail
