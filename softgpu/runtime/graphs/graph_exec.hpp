// A graph that is ready to be launched again and again: CUgraphExec.
//
// A launch makes an Op for every node and links them as the graph says, which costs less than as many calls: handles,
// arguments and shapes have been checked, and there is one place in the stream for all of them. The first may be done
// before the last is made. What is launched is not touched by later changes.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "softgpu/runtime/graphs/graph.hpp"

namespace softgpu::runtime {

struct GraphServices;
class Stream;

// Why a graph does not fit an executable one.
struct GraphMismatch {
  CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  const GraphNode* node = nullptr;  // of the graph that was given
  const GraphNode* from = nullptr;  // the dependency of it that differs
};

// Thread-safe.
class GraphExec {
 public:
  // Throws CUDA_ERROR_INVALID_VALUE for a graph with a cycle, or with memory nodes that another executable graph has.
  GraphExec(GraphServices& services, const Graph& graph, std::uint64_t flags);
  ~GraphExec();

  std::uint64_t flags() const { return flags_; }

  // Prepares what the first launch would have to.
  void upload();
  // After all earlier launches, too.
  void launch(Stream& stream);

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
  struct Step {
    GraphNode* node = nullptr;           // of definition_
    std::vector<std::uint32_t> after;    // earlier steps
    std::vector<std::uint32_t> last_of;  // those of them that no later step comes after
    bool enabled = true;
  };
  std::uint32_t add_step(GraphNode& node, std::vector<std::uint32_t> after);
  std::uint32_t add_child(GraphNode& node, std::vector<std::uint32_t> after);
  std::vector<std::uint32_t> add_nodes(const Graph& graph, const std::vector<std::uint32_t>& after);
  const Step& step_of(const GraphNode& node) const;
  Step& step_of(const GraphNode& node) { return const_cast<Step&>(std::as_const(*this).step_of(node)); }
  void find_last_uses();
  void start(Stream& stream);
  GraphMismatch take(Graph& mine, const Graph& theirs);
  void keep_until_launched(std::shared_ptr<void> used) const;

  GraphServices& services_;
  const std::uint64_t flags_;
  const std::shared_ptr<Graph> definition_;  // a copy
  mutable std::mutex mutex_;
  std::vector<Step> steps_;  // in order
  std::size_t roots_ = 0;
  std::vector<std::uint32_t> ends_;                                 // after which nothing comes
  std::unordered_map<std::uint64_t, std::uint32_t> steps_by_node_;  // of the original graph
  std::vector<std::shared_ptr<GraphAllocation>> allocates_, frees_;
  OpRef last_launch_;
};

// What keeps a node from having another's work, which is of the same type; else CU_GRAPH_EXEC_UPDATE_SUCCESS.
CUgraphExecUpdateResult work_change(const NodeWork& now, const NodeWork& next);

// Gives the nodes of one graph the work of another that is like it: node by node from the ends of both, and from there
// by the order of dependencies. All of them or, where something does not fit, none.
// The objects that programs gave to the graphs change hands as well; `replaced` gets those that went.
GraphMismatch take_work(Graph& graph, const Graph& from, std::vector<UserObjects>& replaced);

}  // namespace softgpu::runtime
