#include "softgpu/runtime/graphs/graph_steps.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/code/module.hpp"
#include "softgpu/runtime/graphs/conditional_op.hpp"
#include "softgpu/runtime/work/context.hpp"
#include "softgpu/runtime/work/stream.hpp"

namespace softgpu::runtime {
namespace {

OpRef make_point() { return OpRef(new MarkerOp); }

// What such a node does, and whether, is known when its turn comes.
bool can_be_in_chain(const GraphNode& node) {
  return node.type() == CU_GRAPH_NODE_TYPE_KERNEL && updatable(node.work()) == nullptr;
}

// A chain is not interrupted by other work, so it must not last.
constexpr std::size_t kLongestChain = 64;

// The end of a launch, which has its place in the stream already: also when there is no memory for what comes before.
class SubmitAtEnd {
 public:
  explicit SubmitAtEnd(Op& op) : op_(op) {}
  ~SubmitAtEnd() { op_.submit(); }
  SubmitAtEnd(const SubmitAtEnd&) = delete;
  SubmitAtEnd& operator=(const SubmitAtEnd&) = delete;

 private:
  Op& op_;
};

// Graphs outlive contexts, but what their nodes do can't be done without one.
void require_context(const NodeWork& work) {
  const Context* context = std::visit(
      [](const auto& one) -> const Context* {
        if constexpr (requires { one.module; })
          return &one.module->context();
        else if constexpr (requires { one.context; })
          return one.context.get();
        else
          return nullptr;
      },
      work);
  require(context == nullptr || !context->destroyed(), CUDA_ERROR_CONTEXT_IS_DESTROYED,
          "the context of a node was destroyed");
}

}  // namespace

GraphSteps::GraphSteps(const Graph& graph) {
  find_units(add_nodes(graph, {}));
  roots_ = static_cast<std::size_t>(
      std::count_if(units_.begin(), units_.end(), [](const Unit& unit) { return unit.after.empty(); }));
  find_last_uses();
  ends_with_record_ =
      ends_.size() == 1 && steps_[units_[ends_.front()].steps.back()].node->type() == CU_GRAPH_NODE_TYPE_EVENT_RECORD;
}

void GraphSteps::find_units(const std::vector<std::uint32_t>& ends) {
  std::vector<std::uint32_t> dependents(steps_.size()), unit_of(steps_.size());
  for (const Step& step : steps_)
    for (const std::uint32_t before : step.after) ++dependents[before];
  for (std::uint32_t i = 0; i < steps_.size(); ++i) unit_of[i] = add_to_unit(i, unit_of, dependents);
  for (const std::uint32_t end : ends) ends_.push_back(unit_of[end]);
}

// Returns the unit: a new one, unless the step continues a chain.
std::uint32_t GraphSteps::add_to_unit(std::uint32_t i, const std::vector<std::uint32_t>& unit_of,
                                      const std::vector<std::uint32_t>& dependents) {
  const Step& step = steps_[i];
  if (step.after.size() == 1 && can_be_in_chain(*step.node)) {
    const std::uint32_t before = step.after.front();
    Unit& unit = units_[unit_of[before]];
    const bool continues = dependents[before] == 1 && can_be_in_chain(*steps_[before].node);
    if (continues && unit.steps.size() < kLongestChain) {
      unit.steps.push_back(i);
      return unit_of[before];
    }
  }
  Unit unit{.steps = {i}, .after = {}, .last_of = {}, .compiled_from = {}, .compiled = nullptr};
  for (const std::uint32_t before : step.after) unit.after.push_back(unit_of[before]);
  units_.push_back(std::move(unit));
  return static_cast<std::uint32_t>(units_.size() - 1);
}

std::uint32_t GraphSteps::add_step(GraphNode& node, std::vector<std::uint32_t> after) {
  Step step{.node = &node, .after = std::move(after)};
  if (const auto* conditional = std::get_if<ConditionalWork>(&node.work()))
    for (const auto& body : conditional->bodies) step.bodies.push_back(std::make_shared<GraphSteps>(*body));
  steps_.push_back(std::move(step));
  return static_cast<std::uint32_t>(steps_.size() - 1);
}

// A child graph's nodes lie between two points.
std::uint32_t GraphSteps::add_child(GraphNode& node, std::vector<std::uint32_t> after) {
  const std::uint32_t start = add_step(node, std::move(after));
  std::vector<std::uint32_t> ends = add_nodes(*std::get<ChildWork>(node.work()).graph, {start});
  return add_step(node, std::move(ends));
}

// Returns the steps after which nothing of the graph comes; `after` itself when it is empty.
std::vector<std::uint32_t> GraphSteps::add_nodes(const Graph& graph, const std::vector<std::uint32_t>& after) {
  std::unordered_map<const GraphNode*, std::uint32_t> steps;
  std::vector<std::uint32_t> ends;
  for (GraphNode* node : graph.in_order()) {
    std::vector<std::uint32_t> before;
    for (const GraphEdge& edge : node->dependencies()) before.push_back(steps.at(edge.node));
    if (before.empty()) before = after;
    const bool is_child = node->type() == CU_GRAPH_NODE_TYPE_GRAPH;
    steps[node] = is_child ? add_child(*node, std::move(before)) : add_step(*node, std::move(before));
    if (node->dependents().empty()) ends.push_back(steps[node]);
  }
  return ends.empty() ? after : ends;
}

void GraphSteps::find_last_uses() {
  std::vector<bool> used(units_.size());
  for (auto unit = units_.rbegin(); unit != units_.rend(); ++unit)
    for (const std::uint32_t before : unit->after)
      if (!used[before]) {
        used[before] = true;
        unit->last_of.push_back(before);
      }
}

void GraphSteps::require_contexts() const {
  for (const Step& step : steps_) {
    require_context(step.node->work());
    for (const auto& body : step.bodies) body->require_contexts();
  }
}

LaunchedBody GraphSteps::launched(const std::shared_ptr<const GraphSteps>& steps) {
  LaunchedBody body{.steps = steps, .work = {}, .bodies = {}};
  for (const Step& step : steps->steps_) {
    body.work.push_back(step.does_something() ? step.node->shared_work() : nullptr);
    body.bodies.push_back(launched_bodies(step));
  }
  return body;
}

std::shared_ptr<const LaunchedBodies> GraphSteps::launched_bodies(const Step& step) {
  if (step.bodies.empty()) return nullptr;
  auto bodies = std::make_shared<LaunchedBodies>();
  for (const auto& steps : step.bodies) bodies->push_back(launched(steps));
  return bodies;
}

// An Op that records an event is what nodes which are made later, and wait for the event, wait for: were it made before
// them, it would wait for itself.
bool GraphSteps::has_end_to_be_made_first() const { return ends_.size() == 1 && !ends_with_record_; }

// `make(unit)` makes the Ops of a unit; `place(first, last)` submits the first one and sees to it that others come
// after the last.
template <typename Make, typename Place>
void GraphSteps::start(const OpRef& begin, const OpRef& end, Make&& make, Place&& place) const {
  std::vector<UnitOps> ops(units_.size());
  const auto made = [&](std::uint32_t i) -> const UnitOps& {
    if (!ops[i].first) ops[i] = make(units_[i]);
    return ops[i];
  };
  // A graph with one root begins with it, one with a single end ends with that.
  const OpRef first = begin ? begin : roots_ == 1 ? made(0).first : make_point();
  const bool ends_with_unit = !end && has_end_to_be_made_first();
  const OpRef last = end ? end : ends_with_unit ? made(ends_.front()).last : make_point();
  place(*first, *last);
  if (&*first == &*last) return;
  const SubmitAtEnd submit_last(*last);
  const auto submit = [&](const OpRef& op) {
    if (&*op != &*first && &*op != &*last) op->submit();
  };
  for (std::uint32_t i = 0; i < units_.size(); ++i) {
    const Unit& unit = units_[i];
    const UnitOps op = made(i);
    for (const std::uint32_t before : unit.after) op.first->put_after(*ops[before].last);
    for (const std::uint32_t before : unit.last_of) ops[before] = {};
    if (unit.after.empty() && &*op.first != &*first) op.first->put_after(*first);
    submit(op.first);
    if (&*op.first != &*op.last) submit(op.last);
  }
  if (units_.empty()) last->put_after(*first);
  if (!ends_with_unit)
    for (const std::uint32_t unit : ends_) last->put_after(*ops[unit].last);
}

// Ops for the steps of a unit, one behind the other, of which those in between are submitted.
template <typename Make>
GraphSteps::UnitOps GraphSteps::link(const Unit& unit, Make&& make) {
  UnitOps ops;
  for (std::size_t i = 0; i < unit.steps.size(); ++i) {
    const OpRef op = make(unit.steps[i]);
    if (i == 0) {
      ops.first = op;
    } else {
      op->put_after(*ops.last);
      if (i > 1) ops.last->submit();
    }
    ops.last = op;
  }
  return ops;
}

// Whether the kernels of a chain are still those that it was compiled from.
bool GraphSteps::is_compiled_from_now(const Unit& unit) const {
  if (unit.compiled_from.size() != unit.steps.size()) return false;
  for (std::size_t i = 0; i < unit.steps.size(); ++i) {
    const Step& step = steps_[unit.steps[i]];
    if (!step.enabled || step.node->shared_work() != unit.compiled_from[i]) return false;
  }
  return true;
}

void GraphSteps::compile(const Unit& unit) const {
  unit.compiled_from.clear();
  unit.compiled = nullptr;
  const auto chain = std::make_shared<KernelChain>();
  bool is_chain = true;
  for (const std::uint32_t i : unit.steps) {
    const Step& step = steps_[i];
    if (!step.enabled) return;
    unit.compiled_from.push_back(step.node->shared_work());
    const auto& work = std::get<KernelWork>(step.node->work());
    is_chain = is_chain && chain->add(*work.function, work.module, work.request, work.arguments);
  }
  if (is_chain) unit.compiled = chain;
}

GraphSteps::UnitOps GraphSteps::make_unit(const OpSettings& settings, const Unit& unit) const {
  const bool may_be_chain =
      unit.steps.size() > 1 && settings.priority == Priority::of_stream && settings.graphs == nullptr;
  if (may_be_chain) {
    if (!is_compiled_from_now(unit)) compile(unit);
    if (unit.compiled != nullptr && unit.compiled->may_run()) {
      const OpRef op = unit.compiled->make_op(settings.place);
      return {op, op};
    }
  }
  return link(unit, [&](std::uint32_t i) { return make(settings, steps_[i]); });
}

OpRef GraphSteps::make(const OpSettings& settings, const Step& step) const {
  if (!step.does_something()) return make_point();
  if (auto bodies = launched_bodies(step))
    return make_conditional_op(settings, step.node->shared_work(), std::move(bodies));
  return make_op(step.node->work(), settings);
}

void GraphSteps::launch(const OpSettings& settings, Stream& stream, OpRef& last_launch, const OpRef& begin,
                        const OpRef& end) const {
  require_contexts();
  start(
      begin, end, [&](const Unit& unit) { return make_unit(settings, unit); },
      [&](Op& first, Op& last) {
        stream.enqueue(first, last, last_launch ? &*last_launch : nullptr);
        last_launch = OpRef(&last);
      });
}

void GraphSteps::start(const OpSettings& settings, const LaunchedBody& body, const OpRef& begin, Op& end,
                       bool& has_end) {
  const auto make = [&](std::uint32_t i) {
    if (body.work[i] == nullptr) return make_point();
    if (body.bodies[i] != nullptr) return make_conditional_op(settings, body.work[i], body.bodies[i]);
    return make_op(*body.work[i], settings);
  };
  const auto make_unit = [&](const Unit& unit) { return link(unit, make); };
  body.steps->start(begin, {}, make_unit, [&](Op& first, Op& last) {
    end.put_after(last);
    end.submit();
    has_end = true;
    first.submit();
  });
}

}  // namespace softgpu::runtime
