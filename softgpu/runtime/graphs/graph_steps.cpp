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
  ends_ = add_nodes(graph, {});
  roots_ = static_cast<std::size_t>(
      std::count_if(steps_.begin(), steps_.end(), [](const Step& step) { return step.after.empty(); }));
  find_last_uses();
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
  std::vector<bool> used(steps_.size());
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step)
    for (const std::uint32_t before : step->after)
      if (!used[before]) {
        used[before] = true;
        step->last_of.push_back(before);
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
    body.work.push_back(step.enabled ? step.node->shared_work() : nullptr);
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

// `make(i)` makes the Op of a step; `place(first, last)` submits the first one and sees to it that others come after
// the last.
template <typename Make, typename Place>
void GraphSteps::start(const OpRef& begin, const OpRef& end, Make&& make, Place&& place) const {
  std::vector<OpRef> ops(steps_.size());
  const auto made = [&](std::uint32_t i) -> const OpRef& {
    if (!ops[i]) ops[i] = make(i);
    return ops[i];
  };
  // A graph with one root begins with it, one with a single end ends with that.
  const OpRef first = begin ? begin : roots_ == 1 ? made(0) : make_point();
  const OpRef last = end ? end : ends_.size() == 1 ? made(ends_.front()) : make_point();
  place(*first, *last);
  if (&*first == &*last) return;
  const SubmitAtEnd submit_last(*last);
  for (std::uint32_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    const OpRef op = made(i);
    for (const std::uint32_t before : step.after) op->put_after(*ops[before]);
    for (const std::uint32_t before : step.last_of) ops[before] = {};
    if (step.after.empty() && &*op != &*first) op->put_after(*first);
    if (&*op != &*first && &*op != &*last) op->submit();
  }
  if (steps_.empty()) last->put_after(*first);
  if (end || ends_.size() != 1)
    for (const std::uint32_t step : ends_) last->put_after(*ops[step]);
}

OpRef GraphSteps::make(const OpSettings& settings, const Step& step) const {
  if (!step.enabled) return make_point();
  if (auto bodies = launched_bodies(step))
    return make_conditional_op(settings, step.node->shared_work(), std::move(bodies));
  return make_op(step.node->work(), settings);
}

void GraphSteps::launch(const OpSettings& settings, Stream& stream, OpRef& last_launch, const OpRef& begin,
                        const OpRef& end) const {
  require_contexts();
  start(
      begin, end, [&](std::uint32_t i) { return make(settings, steps_[i]); },
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
  body.steps->start(begin, {}, make, [&](Op& first, Op& last) {
    end.put_after(last);
    end.submit();
    has_end = true;
    first.submit();
  });
}

}  // namespace softgpu::runtime
