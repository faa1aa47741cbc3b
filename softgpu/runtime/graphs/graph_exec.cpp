#include "softgpu/runtime/graphs/graph_exec.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "softgpu/exec/updatable_nodes.hpp"
#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/graphs/environment.hpp"
#include "softgpu/runtime/graphs/graph_checks.hpp"
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

void give_back_all(const ConditionalVariables& variables) {
  for (const auto& variable : variables) variable->give_back();
}

// The beginning of a launch.
class BeginOp final : public Op {
 public:
  BeginOp(ConditionalVariables variables, std::shared_ptr<std::atomic<bool>> runs)
      : variables_(std::move(variables)), runs_(std::move(runs)) {}

 protected:
  void run() override {
    for (const auto& variable : variables_)
      if (variable->has_default()) variable->assign_default();
    variables_.clear();
    if (runs_ != nullptr) *runs_ = true;
    finish();
  }

 private:
  ConditionalVariables variables_;
  const std::shared_ptr<std::atomic<bool>> runs_;
};

// The end of a launch whose kernels may launch graphs: done when those are. What follows may need locks that the thread
// which comes here holds.
class EnvironmentEndOp final : public Op {
 public:
  explicit EnvironmentEndOp(std::shared_ptr<std::atomic<bool>> runs) : runs_(std::move(runs)) {}
  void set_environment(std::shared_ptr<GraphEnvironment> environment) { environment_ = std::move(environment); }
  void complete() { finish(); }

 protected:
  void run() override {
    const OpPlace place = environment_->settings().place;
    place.context->work().pool.post({.run =
                                         [op = OpRef(this), this] {
                                           *runs_ = false;
                                           std::exchange(environment_, nullptr)->graph_done();
                                         },
                                     .priority = place.priority,
                                     .queue = place.queue});
  }

 private:
  const std::shared_ptr<std::atomic<bool>> runs_;
  std::shared_ptr<GraphEnvironment> environment_;
};

// The same for a graph that a kernel launched, and that may be gone for the program when it ends.
class InsideEndOp final : public Op {
 public:
  InsideEndOp(std::shared_ptr<GraphExec> exec, std::shared_ptr<std::atomic<bool>> runs,
              std::shared_ptr<GraphEnvironment> environment)
      : exec_(std::move(exec)), runs_(std::move(runs)), environment_(std::move(environment)) {}

 protected:
  void run() override {
    const OpPlace place = environment_->settings().place;
    WorkServices& work = place.context->work();
    work.pool.post({.run =
                        [op = OpRef(this), this, &work] {
                          work.host_functions.post([exec = std::move(exec_)]() mutable { exec.reset(); });
                          *runs_ = false;
                          std::exchange(environment_, nullptr)->graph_done();
                          finish();
                        },
                    .priority = place.priority,
                    .queue = place.queue});
  }

 private:
  std::shared_ptr<GraphExec> exec_;
  const std::shared_ptr<std::atomic<bool>> runs_;
  std::shared_ptr<GraphEnvironment> environment_;
};

ConditionalVariables take_all(const ConditionalVariables& variables) {
  ConditionalVariables taken;
  for (const auto& variable : variables) {
    if (!variable->take()) {
      give_back_all(taken);
      throw Failure(CUDA_ERROR_INVALID_VALUE, "a graph with conditional nodes has one executable graph at a time");
    }
    taken.push_back(variable);
  }
  return taken;
}

}  // namespace

GraphExec::GraphExec(GraphServices& services, const Graph& graph, std::uint64_t flags)
    : services_(services),
      flags_(flags & ~std::uint64_t{CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD}),
      definition_(checked_for_instantiation(graph, flags).clone(Graph::Handles::none)),
      steps_(std::make_shared<GraphSteps>(*definition_)),
      launches_graphs_(launchable_from_device() || launches_graphs(*definition_)),
      taken_(take_all(definition_->conditionals())) {
  try {
    steps_->for_each([this](Step& step) {
      if (!steps_by_node_.emplace(step.node->original(), &step).second) return;
      if (const auto* work = std::get_if<AllocateWork>(&step.node->work())) allocates_.push_back(work->allocation);
      if (const auto* work = std::get_if<FreeWork>(&step.node->work())) frees_.push_back(work->allocation);
    });
    take_updatable();
    services_.graph_memory.add_instance(allocates_);
  } catch (...) {
    give_back_all(taken_);
    give_back_updatable();
    throw;
  }
}

void GraphExec::take_updatable() {
  steps_->for_each([this](const Step& step) {
    exec::UpdatableNode* node = updatable(step.node->work());
    if (node == nullptr) return;
    require(node->take(), CUDA_ERROR_INVALID_VALUE,
            "a graph with nodes that kernels can change has one executable graph at a time");
    const auto& work = std::get<KernelWork>(step.node->work());
    updatable_.push_back(work.updatable);
    node->set(work.arguments, work.request.grid);
    node->set_enabled(true);
  });
}

void GraphExec::give_back_updatable() {
  for (const auto& node : updatable_) node->give_back();
}

GraphExec::~GraphExec() {
  give_back_all(taken_);
  give_back_updatable();
  services_.graph_memory.remove_instance(allocates_);
  keep_until_launched(definition_);
}

void GraphExec::keep_until_launched(std::shared_ptr<void> used) const {
  if (!last_launch_ || last_launch_->done()) return;
  const OpRef keep(new KeepOp(services_.memory.work.host_functions, std::move(used)));
  keep->put_after(*last_launch_);
  keep->submit();
}

const GraphExec::Step& GraphExec::step_of(const GraphNode& node) const {
  const auto it = steps_by_node_.find(node.id());
  require(it != steps_by_node_.end(), CUDA_ERROR_INVALID_VALUE, "not a node of the graph that was instantiated");
  return *it->second;
}

void GraphExec::upload() {
  services_.graph_memory.make_resident(allocates_);
  uploaded_ = true;
}

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

OpRef GraphExec::make_begin() const {
  const ConditionalVariables& variables = definition_->conditionals();
  const bool has_defaults =
      std::any_of(variables.begin(), variables.end(), [](const auto& variable) { return variable->has_default(); });
  return has_defaults || launches_graphs_ ? OpRef(new BeginOp(variables, launches_graphs_ ? runs_ : nullptr)) : OpRef();
}

void GraphExec::start(Stream& stream) {
  const auto priority =
      (flags_ & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) != 0 ? Priority::of_node : Priority::of_stream;
  const OpSettings settings{services_, stream.place(), priority, nullptr};
  uploaded_ = true;
  if (!launches_graphs_) return steps_->launch(settings, stream, last_launch_, make_begin(), {});
  auto* const end = new EnvironmentEndOp(runs_);
  const OpRef keep(end);
  const auto outermost = GraphEnvironment::outermost(settings, [keep, end] { end->complete(); });
  const auto environment = GraphEnvironment::inside(outermost, *this);
  end->set_environment(environment);
  try {
    steps_->launch(environment->settings(), stream, last_launch_, make_begin(), keep);
  } catch (...) {
    const bool is_launched = last_launch_ && &*last_launch_ == end;
    if (!is_launched) end->set_environment(nullptr);
    throw;
  }
}

bool GraphExec::launch_inside(const std::shared_ptr<GraphEnvironment>& environment) {
  if (runs_->exchange(true)) return false;
  const OpSettings settings = environment->settings();
  bool has_end = false;
  try {
    auto* const end = new InsideEndOp(shared_from_this(), runs_, environment);
    const OpRef keep(end);
    LaunchedBody launched;
    OpRef begin;
    {
      const std::scoped_lock lock(mutex_);
      launched = GraphSteps::launched(steps_);
      begin = make_begin();
    }
    GraphSteps::start(settings, launched, begin, *end, has_end);
    return true;
  } catch (const std::exception& error) {
    settings.place.context->fail(CUDA_ERROR_LAUNCH_FAILED, error.what());
    if (!has_end) *runs_ = false;
    return has_end;
  }
}

void GraphExec::set_work(const GraphNode& node, NodeWork work) {
  const std::scoped_lock lock(mutex_);
  GraphNode& mine = *step_of(node).node;
  if (auto* kernel = std::get_if<KernelWork>(&work); kernel != nullptr && mine.type() == CU_GRAPH_NODE_TYPE_KERNEL)
    keep_attributes(*kernel, std::get<KernelWork>(mine.work()));
  require(
      mine.type() == type_of(work) && work_change(mine.work(), work, launches_graphs_) == CU_GRAPH_EXEC_UPDATE_SUCCESS,
      CUDA_ERROR_INVALID_VALUE, "the node of an executable graph can't be changed so");
  if (exec::UpdatableNode* changed = updatable(mine.work())) {
    auto& kernel = std::get<KernelWork>(work);
    kernel.updatable = std::get<KernelWork>(mine.work()).updatable;
    changed->set(kernel.arguments, kernel.request.grid);
  }
  mine.set_work(std::move(work));
}

void GraphExec::set_enabled(const GraphNode& node, bool enabled) {
  const std::scoped_lock lock(mutex_);
  Step& step = step_of(node);
  require(can_be_disabled(*step.node), CUDA_ERROR_INVALID_VALUE, "only kernels, copies and sets can be disabled");
  step.enabled = enabled;
  if (exec::UpdatableNode* changed = updatable(step.node->work())) changed->set_enabled(enabled);
}

bool GraphExec::enabled(const GraphNode& node) const {
  const std::scoped_lock lock(mutex_);
  const Step& step = step_of(node);
  require(can_be_disabled(*step.node), CUDA_ERROR_INVALID_VALUE, "only kernels, copies and sets can be disabled");
  return step.enabled;
}

GraphMismatch GraphExec::update(const Graph& graph) {
  const std::scoped_lock lock(mutex_);
  if (!updatable_.empty() || has_updatable_nodes(graph)) return {.result = CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED};
  const GraphMismatch mismatch = take(*definition_, graph);
  if (mismatch.result == CU_GRAPH_EXEC_UPDATE_SUCCESS) definition_->conditionals() = graph.conditionals();
  return mismatch;
}

GraphMismatch GraphExec::update_child(const GraphNode& node, const Graph& child) {
  const std::scoped_lock lock(mutex_);
  const auto* work = std::get_if<ChildWork>(&step_of(node).node->work());
  require(work != nullptr, CUDA_ERROR_INVALID_VALUE, "not a child graph");
  return take(*work->graph, child);
}

GraphMismatch GraphExec::take(Graph& mine, const Graph& theirs) {
  const auto replaced = std::make_shared<std::vector<UserObjects>>();
  const GraphMismatch mismatch = take_work(mine, theirs, launches_graphs_, *replaced);
  keep_until_launched(replaced);
  return mismatch;
}

}  // namespace softgpu::runtime
