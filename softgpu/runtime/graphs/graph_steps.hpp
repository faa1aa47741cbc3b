// The nodes of a graph in an order that its edges allow, and how a launch makes Ops of them.
//
// The nodes of child graphs are steps like any other. Those of conditional nodes' bodies are lists of their own, of
// which Ops are made when it is known whether, and how often, a body runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "softgpu/runtime/graphs/graph.hpp"

namespace softgpu::runtime {

class GraphSteps;
class KernelChain;
struct LaunchedBody;
class Stream;

// A launch comes to the bodies of a conditional node later, and does what their nodes were to do when it was made.
using LaunchedBodies = std::vector<LaunchedBody>;
struct LaunchedBody {
  std::shared_ptr<const GraphSteps> steps;
  std::vector<std::shared_ptr<const NodeWork>> work;          // by step; null: disabled
  std::vector<std::shared_ptr<const LaunchedBodies>> bodies;  // by step; null: not a conditional node
};

class GraphSteps {
 public:
  struct Step {
    GraphNode* node = nullptr;
    std::vector<std::uint32_t> after;                 // earlier steps
    std::vector<std::shared_ptr<GraphSteps>> bodies;  // of a conditional node
    bool enabled = true;
    // A node that kernels change may be enabled by them.
    bool does_something() const { return enabled || updatable(node->work()) != nullptr; }
  };

  // Throws CUDA_ERROR_INVALID_VALUE for a graph with a cycle. The graph has to outlive the calls of launch().
  explicit GraphSteps(const Graph& graph);

  // `visit(step)` for each, bodies included; a child graph's node has two, the first of which comes first.
  template <typename Visit>
  void for_each(Visit&& visit) {
    for (Step& step : steps_) {
      visit(step);
      for (const auto& body : step.bodies) body->for_each(visit);
    }
  }

  // Puts all of them into the stream, behind `last_launch`, which becomes the end of this one. `begin`, `end`: Ops that
  // come before and after all others; null: none is needed. Throws CUDA_ERROR_CONTEXT_IS_DESTROYED.
  void launch(const OpSettings& settings, Stream& stream, OpRef& last_launch, const OpRef& begin,
              const OpRef& end) const;
  // All steps of `steps` as they are now.
  static LaunchedBody launched(const std::shared_ptr<const GraphSteps>& steps);

  // Starts them without a stream, `begin` first if there is one; `end` has been submitted when this returns, and comes
  // after all of them. `has_end`: whether that is so, too, should this throw.
  static void start(const OpSettings& settings, const LaunchedBody& body, const OpRef& begin, Op& end, bool& has_end);

 private:
  std::uint32_t add_step(GraphNode& node, std::vector<std::uint32_t> after);
  std::uint32_t add_child(GraphNode& node, std::vector<std::uint32_t> after);
  std::vector<std::uint32_t> add_nodes(const Graph& graph, const std::vector<std::uint32_t>& after);
  void find_last_uses();
  void require_contexts() const;
  static std::shared_ptr<const LaunchedBodies> launched_bodies(const Step& step);
  OpRef make(const OpSettings& settings, const Step& step) const;
  bool has_end_to_be_made_first() const;
  template <typename Make, typename Place>
  void start(const OpRef& begin, const OpRef& end, Make&& make, Place&& place) const;

  // What a launch makes one Op of, if it can: a step, or kernels that form a chain. Each comes after the one before it
  // and nothing else, and nothing else comes after that one.
  struct Unit {
    std::vector<std::uint32_t> steps;
    std::vector<std::uint32_t> after;    // earlier units
    std::vector<std::uint32_t> last_of;  // those of them that no later unit comes after
    // What the chain was compiled from and to; null where the kernels can't run so. Guarded as the steps are.
    mutable std::vector<std::shared_ptr<const NodeWork>> compiled_from;
    mutable std::shared_ptr<const KernelChain> compiled;
  };
  // The Ops of a unit; others come after the last.
  struct UnitOps {
    OpRef first, last;
  };
  void find_units(const std::vector<std::uint32_t>& ends);
  std::uint32_t add_to_unit(std::uint32_t step, const std::vector<std::uint32_t>& unit_of,
                            const std::vector<std::uint32_t>& dependents);
  bool is_compiled_from_now(const Unit& unit) const;
  void compile(const Unit& unit) const;
  UnitOps make_unit(const OpSettings& settings, const Unit& unit) const;
  template <typename Make>
  static UnitOps link(const Unit& unit, Make&& make);

  std::vector<Step> steps_;  // in order
  std::vector<Unit> units_;  // in order
  std::size_t roots_ = 0;
  std::vector<std::uint32_t> ends_;  // units after which nothing comes
  bool ends_with_record_ = false;    // of an event, and nothing else
};

}  // namespace softgpu::runtime
