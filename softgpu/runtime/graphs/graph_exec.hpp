// A graph that is ready to be launched again and again: CUgraphExec.
//
// A launch makes an Op for every node and links them as the graph says, which costs less than as many calls: handles,
// arguments and shapes have been checked, and there is one place in the stream for all of them. The first may be done
// before the last is made. What is launched is not touched by later changes.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/graphs/graph.hpp"
#include "softgpu/runtime/graphs/graph_steps.hpp"

namespace softgpu::runtime {

class GraphEnvironment;
struct GraphServices;
class Stream;

// Why a graph does not fit an executable one.
struct GraphMismatch {
  CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  const GraphNode* node = nullptr;  // of the graph that was given
  const GraphNode* from = nullptr;  // the dependency of it that differs
};

// Why a graph can't be made executable.
class InstantiateFailure : public Failure {
 public:
  InstantiateFailure(CUresult code, CUgraphInstantiateResult result, const GraphNode* node, const char* message)
      : Failure(code, message), result_(result), node_(node) {}
  CUgraphInstantiateResult result() const { return result_; }
  const GraphNode* node() const { return node_; }  // null: no single one

 private:
  CUgraphInstantiateResult result_;
  const GraphNode* node_;
};

// Thread-safe.
class GraphExec : public std::enable_shared_from_this<GraphExec> {
 public:
  // Throws InstantiateFailure for a graph with a cycle or with numbers for conditional nodes that it does not have, and
  // CUDA_ERROR_INVALID_VALUE for one with memory or conditional nodes that another executable graph has.
  GraphExec(GraphServices& services, const Graph& graph, std::uint64_t flags);
  ~GraphExec();

  std::uint64_t flags() const { return flags_; }
  CUgraphExec handle() const { return handle_; }
  void set_handle(CUgraphExec handle) { handle_ = handle; }

  // Prepares what the first launch would have to.
  void upload();
  bool uploaded() const { return uploaded_; }
  // After all earlier launches, too.
  void launch(Stream& stream);

  bool launchable_from_device() const { return (flags_ & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0; }
  // For a launch by a kernel: starts it now, in an environment of its own. False: it is running.
  bool launch_inside(const std::shared_ptr<GraphEnvironment>& environment);

  // `node` is one of the graph that it was made from, or of a child graph in that; throws CUDA_ERROR_INVALID_VALUE for
  // others and for work that is of another type.
  void set_work(const GraphNode& node, NodeWork work);
  void set_enabled(const GraphNode& node, bool enabled);
  bool enabled(const GraphNode& node) const;
  // Takes the work of all nodes, if the graph is like the one it was made from.
  GraphMismatch update(const Graph& graph);
  // The same for a node's child graph.
  GraphMismatch update_child(const GraphNode& node, const Graph& child);

 private:
  using Step = GraphSteps::Step;
  const Step& step_of(const GraphNode& node) const;
  Step& step_of(const GraphNode& node) { return const_cast<Step&>(std::as_const(*this).step_of(node)); }
  void start(Stream& stream);
  OpRef make_begin() const;
  GraphMismatch take(Graph& mine, const Graph& theirs);
  void keep_until_launched(std::shared_ptr<void> used) const;
  void take_updatable();
  void give_back_updatable();

  GraphServices& services_;
  const std::uint64_t flags_;
  const std::shared_ptr<Graph> definition_;  // a copy
  mutable std::mutex mutex_;
  const std::shared_ptr<GraphSteps> steps_;
  const bool launches_graphs_;  // its kernels do, or a kernel launches it
  CUgraphExec handle_ = nullptr;
  std::atomic<bool> uploaded_{false};
  const std::shared_ptr<std::atomic<bool>> runs_ = std::make_shared<std::atomic<bool>>(false);  // if launches_graphs_
  std::unordered_map<std::uint64_t, Step*> steps_by_node_;                                      // of the original graph
  std::vector<std::shared_ptr<GraphAllocation>> allocates_, frees_;
  const ConditionalVariables taken_;                             // that no other executable graph may have
  std::vector<std::shared_ptr<exec::UpdatableNode>> updatable_;  // of its kernel nodes
  OpRef last_launch_;
};

// What keeps a node from having another's work, which is of the same type; else CU_GRAPH_EXEC_UPDATE_SUCCESS.
// `launches_graphs`: whether kernels of the executable graph may.
CUgraphExecUpdateResult work_change(const NodeWork& now, const NodeWork& next, bool launches_graphs);

// Gives the nodes of one graph the work of another that is like it: node by node from the ends of both, and from there
// by the order of dependencies. All of them or, where something does not fit, none.
// The objects that programs gave to the graphs change hands as well; `replaced` gets those that went.
GraphMismatch take_work(Graph& graph, const Graph& from, bool launches_graphs, std::vector<UserObjects>& replaced);

}  // namespace softgpu::runtime
