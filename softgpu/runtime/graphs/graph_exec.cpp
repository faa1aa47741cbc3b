#include "softgpu/runtime/graphs/graph_exec.hpp"

#include <algorithm>

#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/code/module.hpp"
#include "softgpu/runtime/graphs/graph_services.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"
#include "softgpu/runtime/work/context.hpp"
#include "softgpu/runtime/work/stream.hpp"

namespace softgpu::runtime {
namespace {

// Holds on to what a launch still uses when its executable graph does no longer. What the program gave to the graph is
// given up where the program's functions may run.
class KeepOp final : public Op {
 public:
  KeepOp(HostFunctions& host_functions, std::shared_ptr<void> used)
      : host_functions_(host_functions), used_(std::move(used)) {}

 protected:
  void run() override {
    host_functions_.post([used = std::move(used_)]() mutable { used.reset(); });
    finish();
  }

 private:
  HostFunctions& host_functions_;
  std::shared_ptr<void> used_;
};

bool can_be_disabled(const GraphNode& node) {
  return node.type() == CU_GRAPH_NODE_TYPE_KERNEL || node.type() == CU_GRAPH_NODE_TYPE_MEMCPY ||
         node.type() == CU_GRAPH_NODE_TYPE_MEMSET;
}

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

GraphExec::GraphExec(GraphServices& services, const Graph& graph, std::uint64_t flags)
    : services_(services), flags_(flags), definition_(graph.clone(Graph::Handles::none)) {
  ends_ = add_nodes(*definition_, {});
  roots_ = static_cast<std::size_t>(
      std::count_if(steps_.begin(), steps_.end(), [](const Step& step) { return step.after.empty(); }));
  find_last_uses();
  services_.graph_memory.add_instance(allocates_);
}

GraphExec::~GraphExec() {
  services_.graph_memory.remove_instance(allocates_);
  keep_until_launched(definition_);
}

void GraphExec::keep_until_launched(std::shared_ptr<void> used) const {
  if (!last_launch_ || last_launch_->done()) return;
  const OpRef keep(new KeepOp(services_.memory.work.host_functions, std::move(used)));
  keep->put_after(*last_launch_);
  keep->submit();
}

std::uint32_t GraphExec::add_step(GraphNode& node, std::vector<std::uint32_t> after) {
  const auto index = static_cast<std::uint32_t>(steps_.size());
  steps_.push_back({.node = &node, .after = std::move(after)});
  if (const auto* work = std::get_if<AllocateWork>(&node.work())) allocates_.push_back(work->allocation);
  if (const auto* work = std::get_if<FreeWork>(&node.work())) frees_.push_back(work->allocation);
  steps_by_node_.emplace(node.original(), index);
  return index;
}

// A child graph's nodes lie between two points.
std::uint32_t GraphExec::add_child(GraphNode& node, std::vector<std::uint32_t> after) {
  const std::uint32_t start = add_step(node, std::move(after));
  std::vector<std::uint32_t> ends = add_nodes(*std::get<ChildWork>(node.work()).graph, {start});
  steps_.push_back({.node = &node, .after = std::move(ends)});
  return static_cast<std::uint32_t>(steps_.size() - 1);
}

// Returns the steps after which nothing of the graph comes; `after` itself when it is empty.
std::vector<std::uint32_t> GraphExec::add_nodes(const Graph& graph, const std::vector<std::uint32_t>& after) {
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

const GraphExec::Step& GraphExec::step_of(const GraphNode& node) const {
  const auto it = steps_by_node_.find(node.id());
  require(it != steps_by_node_.end(), CUDA_ERROR_INVALID_VALUE, "not a node of the graph that was instantiated");
  return steps_[it->second];
}

void GraphExec::upload() { services_.graph_memory.make_resident(allocates_); }

void GraphExec::launch(Stream& stream) {
  const std::scoped_lock lock(mutex_);
  stream.require_uncaptured();
  const bool frees_itself = (flags_ & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
  GraphMemory& memory = services_.graph_memory;
  if (!allocates_.empty() || !frees_.empty())
    memory.launch(allocates_, frees_, frees_itself ? GraphMemory::Unfreed::freed : GraphMemory::Unfreed::refused);
  start(stream);
  memory.set_last_use(allocates_, last_launch_);
  memory.set_last_use(frees_, last_launch_);
}

void GraphExec::find_last_uses() {
  std::vector<bool> used(steps_.size());
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step)
    for (const std::uint32_t before : step->after)
      if (!used[before]) {
        used[before] = true;
        step->last_of.push_back(before);
      }
}

void GraphExec::start(Stream& stream) {
  for (const Step& step : steps_) require_context(step.node->work());
  const OpPlace place = stream.place();
  const auto priority =
      (flags_ & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) != 0 ? Priority::of_node : Priority::of_stream;
  std::vector<OpRef> ops(steps_.size());
  const auto point = [] { return OpRef(new MarkerOp); };
  const auto made = [&](std::uint32_t i) -> const OpRef& {
    if (!ops[i]) ops[i] = steps_[i].enabled ? make_op(services_, steps_[i].node->work(), place, priority) : point();
    return ops[i];
  };
  // A graph with one root begins with it, one with a single end ends with that.
  const OpRef first = roots_ == 1 ? made(0) : point();
  const OpRef last = ends_.size() == 1 ? made(ends_.front()) : point();
  stream.enqueue(*first, *last, last_launch_ ? &*last_launch_ : nullptr);
  last_launch_ = last;
  if (&*first == &*last) return;
  const SubmitAtEnd submit_last(*last);
  for (std::uint32_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    const OpRef op = made(i);
    for (const std::uint32_t before : step.after) op->put_after(*ops[before]);
    for (const std::uint32_t before : step.last_of) ops[before] = {};
    if (&*op == &*first || &*op == &*last) continue;
    if (step.after.empty()) op->put_after(*first);
    op->submit();
  }
  if (steps_.empty()) last->put_after(*first);
  if (ends_.size() != 1)
    for (const std::uint32_t end : ends_) last->put_after(*ops[end]);
}

void GraphExec::set_work(const GraphNode& node, NodeWork work) {
  const std::scoped_lock lock(mutex_);
  GraphNode& mine = *step_of(node).node;
  require(mine.type() == type_of(work) && work_change(mine.work(), work) == CU_GRAPH_EXEC_UPDATE_SUCCESS,
          CUDA_ERROR_INVALID_VALUE, "the node of an executable graph can't be changed so");
  mine.set_work(std::move(work));
}

void GraphExec::set_enabled(const GraphNode& node, bool enabled) {
  const std::scoped_lock lock(mutex_);
  Step& step = step_of(node);
  require(can_be_disabled(*step.node), CUDA_ERROR_INVALID_VALUE, "only kernels, copies and sets can be disabled");
  step.enabled = enabled;
}

bool GraphExec::enabled(const GraphNode& node) const {
  const std::scoped_lock lock(mutex_);
  const Step& step = step_of(node);
  require(can_be_disabled(*step.node), CUDA_ERROR_INVALID_VALUE, "only kernels, copies and sets can be disabled");
  return step.enabled;
}

GraphMismatch GraphExec::update(const Graph& graph) {
  const std::scoped_lock lock(mutex_);
  return take(*definition_, graph);
}

GraphMismatch GraphExec::update_child(const GraphNode& node, const Graph& child) {
  const std::scoped_lock lock(mutex_);
  const auto* work = std::get_if<ChildWork>(&step_of(node).node->work());
  require(work != nullptr, CUDA_ERROR_INVALID_VALUE, "not a child graph");
  return take(*work->graph, child);
}

GraphMismatch GraphExec::take(Graph& mine, const Graph& theirs) {
  const auto replaced = std::make_shared<std::vector<UserObjects>>();
  const GraphMismatch mismatch = take_work(mine, theirs, *replaced);
  keep_until_launched(replaced);
  return mismatch;
}

}  // namespace softgpu::runtime
