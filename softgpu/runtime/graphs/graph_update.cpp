// Giving an executable graph the work of another graph that is like the one it was made from.
#include <unordered_map>

#include "softgpu/runtime/code/function.hpp"
#include "softgpu/runtime/code/module.hpp"
#include "softgpu/runtime/graphs/graph_exec.hpp"
#include "softgpu/runtime/work/context.hpp"

namespace softgpu::runtime {
namespace {

using Result = CUgraphExecUpdateResult;

// What keeps a node from having another's work, which is of the same type.
struct WorkChange {
  const NodeWork& now;
  bool launches_graphs;  // kernels of the executable graph may

  Result operator()(const KernelWork& next) const {
    const auto& kernel = std::get<KernelWork>(now);
    if (&kernel.module->context() != &next.module->context())
      return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
    if (next.function->facts().launches_graphs && !launches_graphs)
      return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
    return kernel.request.cooperative == next.request.cooperative ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                                                  : CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
  }
  Result operator()(const CopyWork& next) const {
    const auto& copy = std::get<CopyWork>(now);
    return allowed(copy.context == next.context && copy.copy.target_side == next.copy.target_side &&
                   copy.copy.source_side == next.copy.source_side);
  }
  Result operator()(const FillWork& next) const {
    const auto& [context, fill] = std::get<FillWork>(now);
    const bool same_size = fill.width == next.fill.width && fill.height == next.fill.height &&
                           fill.pitch == next.fill.pitch && fill.element_bytes == next.fill.element_bytes;
    return allowed(context == next.context && (same_size || (fill.height == 1 && next.fill.height == 1)));
  }
  Result operator()(const SignalSemaphoresWork& next) const {
    return allowed(std::get<SignalSemaphoresWork>(now).values.size() == next.values.size());
  }
  Result operator()(const WaitSemaphoresWork& next) const {
    return allowed(std::get<WaitSemaphoresWork>(now).values.size() == next.values.size());
  }
  Result operator()(const AllocateWork& next) const {
    return allowed(std::get<AllocateWork>(now).allocation == next.allocation);
  }
  Result operator()(const FreeWork& next) const {
    return allowed(std::get<FreeWork>(now).allocation == next.allocation);
  }
  // The number changes with the graph, which says what its default is and which one the kernels set.
  Result operator()(const ConditionalWork& next) const {
    const auto& conditional = std::get<ConditionalWork>(now);
    return allowed(conditional.context == next.context && conditional.type == next.type &&
                   conditional.bodies.size() == next.bodies.size());
  }
  template <typename Work>
  Result operator()(const Work&) const {
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
  }

 private:
  static Result allowed(bool condition) {
    return condition ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
  }
};

// Pairs of nodes of the graph and the one it is compared with.
class Pairing {
 public:
  explicit Pairing(bool launches_graphs) : launches_graphs_(launches_graphs) {}

  GraphMismatch add(Graph& mine, const Graph& theirs) {
    graphs_.emplace_back(&mine, &theirs);
    if (mine.nodes().size() != theirs.nodes().size()) return {.result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED};
    const auto my_ends = ends(mine), their_ends = ends(theirs);
    if (my_ends.size() != their_ends.size())
      return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, their_ends.empty() ? nullptr : their_ends.back(), nullptr};
    for (std::size_t i = 0; i < my_ends.size(); ++i)
      if (!pair(*my_ends[i], *their_ends[i]))
        return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, their_ends[i], nullptr};
    while (checked_ < pairs_.size()) {
      const auto [node, other] = pairs_[checked_++];
      if (const GraphMismatch mismatch = check(*node, *other); mismatch.result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
        return mismatch;
    }
    return {};
  }

  void apply(std::vector<UserObjects>& replaced) const {
    for (const auto& [mine, theirs] : graphs_) {
      UserObjects objects = theirs->user_objects();
      mine->user_objects().swap(objects);
      replaced.push_back(std::move(objects));
    }
    for (const auto& [mine, theirs] : pairs_) {
      if (const auto* conditional = std::get_if<ConditionalWork>(&theirs->work()))
        mine->set_variable(conditional->variable);
      else if (mine->type() != CU_GRAPH_NODE_TYPE_GRAPH)
        mine->share_work(*theirs);
    }
  }

 private:
  static std::vector<GraphNode*> ends(const Graph& graph) {
    std::vector<GraphNode*> found;
    for (const auto& node : graph.nodes())
      if (node->dependents().empty()) found.push_back(node.get());
    return found;
  }

  // False when one of them belongs to another node already.
  bool pair(GraphNode& mine, const GraphNode& theirs) {
    const auto [it, is_new] = partners_.emplace(&mine, &theirs);
    if (is_new) pairs_.emplace_back(&mine, &theirs);
    return it->second == &theirs && partners_.emplace(&theirs, &mine).first->second == &mine;
  }

  GraphMismatch check(const GraphNode& mine, const GraphNode& theirs) {
    if (mine.type() != theirs.type()) return {CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, &theirs, nullptr};
    if (mine.dependencies().size() != theirs.dependencies().size())
      return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, &theirs, nullptr};
    for (std::size_t i = 0; i < mine.dependencies().size(); ++i) {
      const GraphNode& dependency = *theirs.dependencies()[i].node;
      if (!pair(*mine.dependencies()[i].node, dependency))
        return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, &theirs, &dependency};
    }
    if (const Result result = work_change(mine.work(), theirs.work(), launches_graphs_);
        result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
      return {result, &theirs, nullptr};
    const auto my_graphs = graphs_inside(mine.work()), their_graphs = graphs_inside(theirs.work());
    for (std::size_t i = 0; i < my_graphs.size(); ++i)
      if (const GraphMismatch mismatch = add(*my_graphs[i], *their_graphs[i]);
          mismatch.result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
        return mismatch;
    return {};
  }

  const bool launches_graphs_;
  std::vector<std::pair<Graph*, const Graph*>> graphs_;  // with their child graphs
  std::vector<std::pair<GraphNode*, const GraphNode*>> pairs_;
  std::size_t checked_ = 0;
  std::unordered_map<const GraphNode*, const GraphNode*> partners_;  // both ways
};

}  // namespace

CUgraphExecUpdateResult work_change(const NodeWork& now, const NodeWork& next, bool launches_graphs) {
  return std::visit(WorkChange{now, launches_graphs}, next);
}

GraphMismatch take_work(Graph& graph, const Graph& from, bool launches_graphs, std::vector<UserObjects>& replaced) {
  Pairing pairing(launches_graphs);
  const GraphMismatch mismatch = pairing.add(graph, from);
  if (mismatch.result == CU_GRAPH_EXEC_UPDATE_SUCCESS) pairing.apply(replaced);
  return mismatch;
}

}  // namespace softgpu::runtime
