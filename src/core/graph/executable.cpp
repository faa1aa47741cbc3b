#include "core/graph/executable.hpp"

#include <mutex>
#include <ostream>

#include "core/base/deferred.hpp"
#include "core/base/empty_handle.hpp"
#include "core/graph/node_attributes.hpp"
#include "core/graph/resources.hpp"
#include "core/memory/graph_memory.hpp"
#include "core/stream/default_streams.hpp"
#include "core/stream/graph_changes.hpp"
#include "core/stream/queue_call.hpp"
#include "driver/release.hpp"
#include "support/text.hpp"

namespace cuprum::core {

using detail::Access;
using detail::GraphAccess;
using detail::GraphExecResource;
using detail::GraphExecSlot;
using detail::GraphResource;
using driver::Api;
using driver::Doing;
using graph::GraphCompleteOptions;
using support::text;

namespace {

/// What is said about a node in a message; it may be one inside of a child graph.
std::string node_in_words(CUgraphNode node) {
  CUgraphNodeType type{};
  if (!node || driver::try_call<&Api::cuGraphNodeGetType>(node, &type) != CUDA_SUCCESS) return {};
  return text("; the node is ", static_cast<graph::GraphNodeType>(type), " node ", static_cast<const void*>(node));
}

const char* reason_of(CUgraphInstantiateResult result) {
  switch (result) {
    case CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE:
      return "its structure is not valid: there is a cycle, or an allocation and its free are not ordered";
    case CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED:
      return "a graph that kernels launch can't have such a node";
    case CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED:
      return "the nodes of a graph that kernels launch must be of one context";
    case CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED:
      return "a condition was created for it that no conditional node uses";
    default: return nullptr;
  }
}

const char* reason_of(CUgraphExecUpdateResult result) {
  switch (result) {
    case CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED:
      return "it has other nodes or edges (CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED)";
    case CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED:
      return "a node is of another type (CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED)";
    case CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED:
      return "the kernel of a node changed in a way that can't be (CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED)";
    case CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED:
      return "a node changed what can't be changed (CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED)";
    case CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED:
      return "a node can't be updated (CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED)";
    case CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE:
      return "a kernel changed to one that the node can't have "
             "(CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE)";
    case CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED:
      return "attributes of a node changed that can't be changed (CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED)";
    default: return "the driver does not say why";
  }
}

/// Destroys an executable graph that nobody got, because there was no memory for it.
class NewExecutable {
 public:
  explicit NewExecutable(CUgraphExec handle) : handle_(handle) {}
  ~NewExecutable() {
    if (handle_) driver::release<&Api::cuGraphExecDestroy>(handle_);
  }
  NewExecutable(const NewExecutable&) = delete;
  NewExecutable& operator=(const NewExecutable&) = delete;
  void has_owner() noexcept { handle_ = nullptr; }

 private:
  CUgraphExec handle_;
};

CUDA_GRAPH_INSTANTIATE_PARAMS instantiate_params(const GraphCompleteOptions& options) {
  CUDA_GRAPH_INSTANTIATE_PARAMS params{};
  if (options.auto_free_on_launch && options.device_launch)
    throw InvalidArgument("instantiating a graph: auto_free_on_launch and device_launch don't go together");
  if (options.auto_free_on_launch) params.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
  if (options.device_launch) params.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
  if (options.use_node_priority) params.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  if (options.upload_stream) {
    params.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    params.hUploadStream = options.upload_stream->handle();
  }
  return params;
}

}  // namespace

graph::GraphCondition create_condition(const ContextRecord& context, CUgraph graph,
                                       std::optional<unsigned> default_value) {
  const GraphChange change;  // NVIDIA's driver gives two threads at the same time the same handle, too
  CUgraphConditionalHandle handle = 0;
  driver::call<&Api::cuGraphConditionalHandleCreate>(
      Doing{[] { return "creating a condition for a graph"; }}, &handle, graph, context.handle,
      default_value.value_or(0), default_value ? static_cast<unsigned>(CU_GRAPH_COND_ASSIGN_DEFAULT) : 0u);
  return graph::GraphCondition::from_handle(handle);
}

graph::Graph instantiate(GraphResource& definition, const GraphCompleteOptions& options) {
  CUDA_GRAPH_INSTANTIATE_PARAMS params = instantiate_params(options);
  auto slot = std::make_shared<GraphExecSlot>();
  auto updated = std::make_shared<UpdatedOperands>();
  std::vector<DevicePointer> allocates = buffers_allocated_by(definition.handle);
  detail::Kept<detail::StreamResource> upload;
  if (options.upload_stream) upload = Access::keep(*options.upload_stream);
  ContextGuard guard(upload ? upload->context() : ContextChoice::current());
  PendingAttachment attachment(definition.handle, {updated});  // the executable graph gets it, and the definition not
  CUgraphExec handle = nullptr;
  const CUresult result = driver::try_call<&Api::cuGraphInstantiateWithParams>(&handle, definition.handle, &params);
  const char* reason = reason_of(params.result_out);
  if (reason && !handle)
    throw InvalidArgument(text("this graph can't be instantiated: ", reason, node_in_words(params.hErrNode_out)));
  if (result != CUDA_SUCCESS) {
    driver::detail::raise(result, driver::detail::index_of_cuGraphInstantiateWithParams,
                          text("instantiating a graph", node_in_words(params.hErrNode_out)));
  }
  NewExecutable executable(handle);
  auto* made = new detail::Closable<GraphExecResource>(std::in_place, guard.context(), handle, std::move(updated));
  executable.has_owner();
  slot->shared = detail::Shared<GraphExecResource>(made);
  made->resource.launched_by_others = options.device_launch;
  made->resource.allocates = std::move(allocates);
  made->resource.attributes_as_of = changes_of_fixed_attributes();
  return GraphAccess::executable(std::move(slot));
}

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI::graph {

using cuprum::detail::Access;
using cuprum::detail::GraphAccess;
using cuprum::detail::GraphExecResource;
using cuprum::detail::GraphResource;
using cuprum::detail::Kept;
using cuprum::detail::StreamResource;
using driver::Api;
using driver::Doing;
using support::text;

namespace {

Kept<GraphExecResource> open_graph(const std::shared_ptr<cuprum::detail::GraphExecSlot>& slot) {
  if (!slot) core::refuse_empty("executable graph");
  Kept<GraphExecResource> kept = slot->try_keep();
  if (!kept) throw WrongState("this executable graph is closed: close() was called on it or on a copy");
  return kept;
}

}  // namespace

void Graph::launch(const Stream& stream) const {
  const Kept<GraphExecResource> graph = open_graph(shared_);
  Kept<StreamResource> queue = Access::keep(stream);
  core::queue_work<&Api::cuGraphLaunch>(*queue, Doing{[&] { return text("launching ", *this, " on ", stream); }},
                                        graph->handle, queue->handle);
  if (!graph->allocates.empty()) [[unlikely]]
    core::note_launch(graph->allocates, core::settled(queue));
  graph->last_stream = std::move(queue);
}

void Graph::upload(const Stream& stream) const {
  const Kept<GraphExecResource> graph = open_graph(shared_);
  const Kept<StreamResource> queue = Access::keep(stream);
  core::queue_work<&Api::cuGraphUpload>(*queue, Doing{[&] { return text("uploading ", *this, " on ", stream); }},
                                        graph->handle, queue->handle);
}

void Graph::update(const GraphDefinition& source) const {
  const Kept<GraphExecResource> graph = open_graph(shared_);
  GraphResource& definition = GraphAccess::graph(source);
  auto updated = std::make_shared<core::UpdatedOperands>();
  core::PendingAttachment attachment(definition.handle, {updated});
  core::ContextGuard guard(graph->context);
  CUgraphExecUpdateResultInfo info{};
  const CUresult result = driver::try_call<&Api::cuGraphExecUpdate>(graph->handle, definition.handle, &info);
  if (result == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) {
    throw InvalidArgument(text("updating ", *this, " from ", source, ": ", core::reason_of(info.result),
                               core::node_in_words(info.errorNode)));
  }
  if (result != CUDA_SUCCESS) {
    driver::detail::raise(result, driver::detail::index_of_cuGraphExecUpdate,
                          text("updating ", *this, " from ", source));
  }
  graph->attributes_as_of = core::changes_of_fixed_attributes();
  graph->updated = std::move(updated);  // what was there before stays with launches that are running
}

CUgraphExec_st* Graph::handle() const {
  const auto graph = shared_ ? shared_->try_keep() : Kept<GraphExecResource>();
  if (!graph) return nullptr;
  graph->launched_by_others = true;
  return graph->handle;
}

bool Graph::is_open() const noexcept { return shared_ && shared_->try_keep(); }

void Graph::close() {
  if (shared_ && shared_->shared) shared_->shared.get()->close();
}

const void* Graph::identity() const noexcept { return shared_.get(); }

bool operator==(const Graph& a, const Graph& b) noexcept { return a.identity() == b.identity(); }

std::ostream& operator<<(std::ostream& out, const Graph& graph) {
  const auto& slot = GraphAccess::slot(graph);
  if (!slot) return out << "an empty executable graph";
  const auto kept = slot->try_keep();
  if (!kept) return out << "a closed executable graph";
  return out << "executable graph " << static_cast<const void*>(kept->handle);
}

// ---- Nodes of executable graphs -------------------------------------------------------------------------------------

namespace {

CUgraphNode source_node(const GraphNode& node) {
  if (node.is_valid()) return node.handle();
  throw WrongState("a node of an executable graph: the definition's node was destroyed");
}

// Whether no launch of the graph is running, as far as that can be told without disturbing anything: a stream that is
// being captured is not asked, and one of another thread can't be.
bool is_idle(const GraphExecResource& graph) {
  if (graph.launched_by_others) return false;
  if (!graph.last_stream) return true;
  const CUstream queue = graph.last_stream->handle;
  if (queue == CU_STREAM_PER_THREAD) return false;
  core::ContextGuard guard(graph.context);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return driver::try_call<&Api::cuStreamIsCapturing>(queue, &status) == CUDA_SUCCESS &&
         status == CU_STREAM_CAPTURE_STATUS_NONE && driver::try_call<&Api::cuStreamQuery>(queue) == CUDA_SUCCESS;
}

// What was replaced is needed by launches that were made before. Nobody says when they are done, so it is looked after
// at the next update: a graph that is updated in a loop keeps little more than it uses.
void drop_replaced(GraphExecResource& graph) noexcept {
  try {
    if (is_idle(graph)) graph.updated->replaced.clear();
  } catch (const Error&) {
    // its context is gone, say: kept until the graph goes
  }
}

void set(const std::shared_ptr<cuprum::detail::GraphExecSlot>& slot, const GraphNode& node, core::NodeRequest request) {
  const Kept<GraphExecResource> graph = open_graph(slot);
  const CUgraphNode handle = source_node(node);
  core::destroy_deferred();
  core::UpdatedOperands& updated = *graph->updated;
  drop_replaced(*graph);
  updated.replaced.emplace_back();  // room first: nothing may fail once the driver has taken the parameters
  core::Owners& current = updated.current[handle];
  core::ContextGuard guard(graph->context);
  driver::call<&Api::cuGraphExecNodeSetParams>(
      Doing{[&] { return text("updating ", node, " of ", GraphAccess::executable(slot)); }}, graph->handle, handle,
      &request.params);
  updated.replaced.back() = std::exchange(current, std::move(request.owners));
}

}  // namespace

bool ExecutableOptionalNode::is_enabled() const {
  const Kept<GraphExecResource> graph = open_graph(graph_);
  unsigned enabled = 0;
  driver::call<&Api::cuGraphNodeGetEnabled>(Doing{[&] { return text("asking whether ", node_, " is enabled"); }},
                                            graph->handle, source_node(node_), &enabled);
  return enabled != 0;
}

void ExecutableOptionalNode::set_enabled(bool enabled) const {
  const Kept<GraphExecResource> graph = open_graph(graph_);
  driver::call<&Api::cuGraphNodeSetEnabled>(
      Doing{[&] { return text(enabled ? "enabling " : "disabling ", node_, " of ", GraphAccess::executable(graph_)); }},
      graph->handle, source_node(node_), enabled ? 1u : 0u);
}

namespace {

/// Refuses what can be changed in the definition of a graph only.
void check_fixed_attributes(const GraphExecResource& graph, const GraphNode& node, const LaunchConfig& config) {
  const LaunchConfig fixed = core::kernel_attributes(source_node(node));
  if (GraphAccess::node(node).last_change_of_fixed_attributes > graph.attributes_as_of)
    throw InvalidArgument(text("updating ", node,
                               " of an executable graph: clusters or being cooperative have changed in "
                               "its definition since the executable graph was made; instantiate() it anew"));
  if (core::have_same_fixed_attributes(config, fixed)) return;
  throw InvalidArgument(text("updating ", node, " of an executable graph to ", config,
                             ": clusters and being cooperative can be changed in its definition only"));
}

}  // namespace

void ExecutableKernelNode::replace(const LaunchConfig& config, const Kernel& kernel,
                                   const cuprum::detail::ArgumentList& arguments,
                                   cuprum::detail::KeptBuffers buffers) const {
  const Kept<GraphExecResource> graph = open_graph(graph_);
  check_fixed_attributes(*graph, node_, config);
  core::ContextGuard guard(graph->context);
  set(graph_, node_, core::kernel_request(graph->context, config, kernel, arguments, buffers));
}

void ExecutableKernelNode::update(const LaunchConfig& config, const Kernel& kernel,
                                  const KernelArguments& arguments) const {
  const Kept<GraphExecResource> graph = open_graph(graph_);
  check_fixed_attributes(*graph, node_, config);
  core::ContextGuard guard(graph->context);
  set(graph_, node_, core::kernel_request(graph->context, config, kernel, arguments));
}

void ExecutableMemsetNode::replace(const Operand& dst, cuprum::detail::FillPattern pattern, std::size_t width,
                                   std::size_t height, std::size_t pitch) const {
  const Kept<GraphExecResource> graph = open_graph(graph_);
  set(graph_, node_, core::memset_request(graph->context, dst, pattern, width, height, pitch));
}

void ExecutableMemcpyNode::update(const Operand& dst, const Operand& src, std::size_t size) const {
  update(dst, src, CopyExtent{.width = size});
}

void ExecutableMemcpyNode::update(const Operand& dst, const Operand& src, const CopyExtent& extent) const {
  const Kept<GraphExecResource> graph = open_graph(graph_);
  core::ContextGuard guard(graph->context);
  set(graph_, node_, core::memcpy_request(graph->context, dst, src, extent));
}

// The driver copies the child's references to what its nodes use.
void ExecutableChildGraphNode::update(const GraphDefinition& child) const {
  set(graph_, node_, core::child_request(GraphAccess::graph(child).handle));
}

void ExecutableEventRecordNode::update(const Event& event) const { set(graph_, node_, core::record_request(event)); }

void ExecutableEventWaitNode::update(const Event& event) const { set(graph_, node_, core::wait_request(event)); }

void ExecutableHostCallbackNode::update(std::function<void()> function) const {
  set(graph_, node_, core::callback_request(std::move(function)));
}

void ExecutableHostCallbackNode::update(void (*function)(void*), void* user_data,
                                        std::shared_ptr<const void> owner) const {
  set(graph_, node_, core::callback_request(function, user_data, std::move(owner)));
}

}  // namespace cuprum::inline CUPRUM_ABI::graph
