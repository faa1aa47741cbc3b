// A graph of work, put together node by node or captured from streams: CUgraph.
//
// As CUDA says, a graph is for one thread at a time. But threads may capture into streams of one capture, and into
// conditional bodies of its graph: what that needs, adding nodes and conditions and keeping objects, is thread-safe.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "softgpu/runtime/graphs/conditional.hpp"
#include "softgpu/runtime/graphs/graph_node.hpp"
#include "softgpu/runtime/graphs/user_object.hpp"

namespace softgpu::runtime {

class GraphNode;
struct GraphServices;

struct GraphEdge {
  GraphNode* node = nullptr;
  CUgraphEdgeData data{};
};

// What a node that is to be made comes after.
struct Dependency {
  std::shared_ptr<GraphNode> node;
  CUgraphEdgeData data{};
};

class GraphNode {
 public:
  GraphNode(Graph& graph, std::shared_ptr<const NodeWork> work);

  Graph& graph() const { return graph_; }
  std::uint64_t id() const { return id_; }
  // The node that it was cloned from; its own id if it was not.
  std::uint64_t original() const { return original_; }
  CUgraphNode handle() const { return handle_; }

  const NodeWork& work() const { return *work_; }
  const std::shared_ptr<const NodeWork>& shared_work() const { return work_; }
  CUgraphNodeType type() const { return type_of(*work_); }
  // Throws CUDA_ERROR_INVALID_VALUE when it would be another type of node.
  void set_work(NodeWork work);
  void share_work(const GraphNode& other) { work_ = other.work_; }
  // The number that a conditional node decides by.
  void set_variable(std::shared_ptr<ConditionalVariable> variable);

  const std::vector<GraphEdge>& dependencies() const { return dependencies_; }
  const std::vector<GraphEdge>& dependents() const { return dependents_; }

  // For what the program was given pointers to: valid until it asks again, or the node goes.
  void keep(std::shared_ptr<const void> given) { given_ = std::move(given); }

 private:
  friend class Graph;
  Graph& graph_;
  const std::uint64_t id_;
  std::uint64_t original_;
  CUgraphNode handle_ = nullptr;
  std::shared_ptr<const NodeWork> work_;  // clones share it
  std::vector<GraphEdge> dependencies_, dependents_;
  std::shared_ptr<const void> given_;
};

class Graph : public std::enable_shared_from_this<Graph> {
 public:
  // Programs see graphs and nodes by handles; a graph inside the driver needs none.
  enum class Handles { none, made };

  static std::shared_ptr<Graph> create(GraphServices& services, Handles handles = Handles::made);
  // For a conditional node of this graph, all of whose work is of that context.
  std::shared_ptr<Graph> create_body(std::shared_ptr<Context> context) const;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  // All throw CUDA_ERROR_INVALID_VALUE for nodes of other graphs, edges that are there already or are not, and
  // CUDA_ERROR_NOT_SUPPORTED for what graphs with memory nodes, or the bodies of conditional nodes, do not allow.
  std::shared_ptr<GraphNode> add(NodeWork work, std::span<const Dependency> dependencies);
  void connect(GraphNode& from, GraphNode& to, const CUgraphEdgeData& data);
  void disconnect(GraphNode& from, GraphNode& to, const CUgraphEdgeData& data);
  void remove(GraphNode& node);
  // With all its child graphs. Nodes know which they were cloned from.
  std::shared_ptr<Graph> clone(Handles handles = Handles::made) const;

  const std::vector<std::shared_ptr<GraphNode>>& nodes() const { return nodes_; }
  std::shared_ptr<GraphNode> find_clone(const GraphNode& original) const;  // null when there is none
  // Each after all that it depends on. Throws CUDA_ERROR_INVALID_VALUE when there is a cycle.
  std::vector<GraphNode*> in_order() const;
  const GraphNode* node_on_cycle() const;  // null: there is none
  bool has_memory_nodes() const;
  bool has_conditional_nodes() const;

  // The numbers for conditional nodes of this graph, of the one that it is inside of, and of those inside of that.
  void add_conditional(std::shared_ptr<ConditionalVariable> variable);
  std::shared_ptr<ConditionalVariable> find_conditional(CUgraphConditionalHandle handle) const;  // null: none of these
  ConditionalVariables& conditionals() { return family_->conditionals; }
  const ConditionalVariables& conditionals() const { return family_->conditionals; }

  UserObjects& user_objects() { return user_objects_; }
  const UserObjects& user_objects() const { return user_objects_; }

  CUgraph handle() const { return handle_; }
  // The handles of the graph, its nodes and its child graphs become invalid.
  void drop_handles();
  // It belongs to a node, and goes with that.
  bool is_child() const { return is_child_; }
  void make_child() { is_child_ = true; }
  // Captures into it, which have begun and not ended.
  bool is_captured_into() const { return captures_.load(std::memory_order_relaxed) != 0; }
  void count_capture(int change) { captures_.fetch_add(change, std::memory_order_relaxed); }

 private:
  friend class GraphNode;
  struct Family {
    std::mutex mutex;  // for the conditionals, and for what is added to the graphs
    ConditionalVariables conditionals;
  };

  explicit Graph(GraphServices& services) : services_(services) {}
  void make_handle(const std::shared_ptr<GraphNode>& node) const;
  std::vector<GraphNode*> as_far_as_ordered() const;
  void check_work(const NodeWork& work) const;
  void note_free(const NodeWork& work) const;
  void adopt_inside(const NodeWork& work) const;
  void join(const std::shared_ptr<Family>& family, const std::shared_ptr<Context>& body_context);
  std::shared_ptr<Graph> clone(Handles handles, const std::shared_ptr<Family>& family) const;

  GraphServices& services_;
  CUgraph handle_ = nullptr;
  bool is_child_ = false;
  std::atomic<int> captures_{0};
  std::shared_ptr<Family> family_ = std::make_shared<Family>();
  std::shared_ptr<Context> body_context_;          // null: not in the body of a conditional node
  std::vector<std::shared_ptr<GraphNode>> nodes_;  // in the order in which they were added
  UserObjects user_objects_;
};

// Work that frees a graph's memory. Throws CUDA_ERROR_INVALID_VALUE when the address is not that of such memory.
FreeWork make_free_work(const GraphServices& services, CUdeviceptr address);

// Writes the graph in Graphviz's language. Throws CUDA_ERROR_OPERATING_SYSTEM when the file can't be written.
void write_dot(const Graph& graph, const char* path, unsigned flags);

}  // namespace softgpu::runtime
