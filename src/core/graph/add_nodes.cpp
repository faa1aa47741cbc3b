#include "core/graph/add_nodes.hpp"

#include <algorithm>

#include "core/base/context.hpp"
#include "core/graph/node_attributes.hpp"
#include "core/stream/graph_changes.hpp"
#include "driver/release.hpp"
#include "support/text.hpp"

namespace cuprum::core {

using cuprum::detail::GraphResource;
using cuprum::detail::NodeRecord;
using driver::Api;
using driver::Doing;
using graph::GraphNodeType;
using support::text;

namespace {

GraphNodeType type_of(const NodeRequest& request) { return static_cast<GraphNodeType>(request.params.type); }

std::string kernel_name(const NodeRequest& request) {
  return request.params.type == CU_GRAPH_NODE_TYPE_KERNEL ? text(" for ", request.known.kernel) : std::string();
}

/// Takes a node that was just added out again unless it is to stay.
class NewNode {
 public:
  NewNode(GraphResource& graph, CUgraphNode node, std::vector<CUgraphNode>* unwanted)
      : graph_(graph), node_(node), unwanted_(unwanted) {}
  ~NewNode() {
    if (!node_) return;
    if (unwanted_)
      unwanted_->push_back(node_);
    else
      driver::release<&Api::cuGraphDestroyNode>(node_);
    graph_.forget(node_);
  }
  NewNode(const NewNode&) = delete;
  NewNode& operator=(const NewNode&) = delete;
  void stays() noexcept { node_ = nullptr; }

 private:
  GraphResource& graph_;
  CUgraphNode node_;
  std::vector<CUgraphNode>* unwanted_;
};

}  // namespace

std::shared_ptr<NodeRecord> add_node(GraphResource& graph, const std::vector<CUgraphNode>& after, NodeRequest& request,
                                     const std::vector<CUgraphEdgeData>& edges, std::vector<CUgraphNode>* unwanted) {
  PendingAttachment attachment(graph.handle, request.owners);
  CUgraphNode handle = nullptr;
  {
    const GraphChange change;
    driver::call<&Api::cuGraphAddNode>(
        Doing{[&] { return text("adding a node (", type_of(request), kernel_name(request), ") to a graph"); }}, &handle,
        graph.handle, after.data(), edges.empty() ? nullptr : edges.data(), after.size(), &request.params);
  }
  NewNode added(graph, handle, unwanted);
  graph.forget(handle);  // somebody else may have destroyed a node of this handle
  std::shared_ptr<NodeRecord> record = graph.record(handle);
  record->known = request.known;
  if (request.params.type == CU_GRAPH_NODE_TYPE_CONDITIONAL) adopt_bodies(graph, *record, request);
  record->attachment = attachment.commit();
  added.stays();
  return record;
}

void set_node(GraphResource& graph, NodeRecord& node, NodeRequest& request) {
  PendingAttachment attachment(graph.handle, request.owners);
  driver::call<&Api::cuGraphNodeSetParams>(
      Doing{[&] { return text("updating a node (", type_of(request), kernel_name(request), ") of a graph"); }},
      node.handle, &request.params);
  detach(graph.handle, node.attachment);
  node.attachment = attachment.commit();
  node.known = request.known;
}

GraphResource& child_of(GraphResource& graph, CUgraphNode node) {
  CUgraph child = nullptr;
  driver::call<&Api::cuGraphChildGraphNodeGetGraph>(Doing{[] { return "looking for the graph in a node"; }}, node,
                                                    &child);
  return graph.inner(child, node);
}

std::vector<GraphResource*> adopt_bodies(GraphResource& graph, NodeRecord& node, const NodeRequest& request) {
  std::vector<GraphResource*> bodies;
  node.known.conditional->bodies.clear();
  for (unsigned i = 0; i < request.params.conditional.size; ++i) {
    const CUgraph body = request.params.conditional.phGraph_out[i];
    node.known.conditional->bodies.push_back(body);
    bodies.push_back(&graph.inner(body, node.handle));
  }
  return bodies;
}

CUgraphNode find_in_clone(CUgraphNode original, CUgraph copy) {
  CUgraphNode found = nullptr;
  const CUresult result = driver::try_call<&Api::cuGraphNodeFindInClone>(&found, original, copy);
  if (result == CUDA_SUCCESS) return found;
  if (result == CUDA_ERROR_INVALID_VALUE) return nullptr;
  driver::detail::raise(result, driver::detail::index_of_cuGraphNodeFindInClone, "finding a node in a graph's clone");
}

// The driver has copied the references to user objects; which node each belongs to it does not know. What it can't find
// is left without a record: its owners stay until the copy goes.
void copy_records(GraphResource& copy, const GraphResource& original) {
  for (const auto& [node, record] : original.records) {
    const CUgraphNode found = find_in_clone(node, copy.handle);
    if (!found) continue;
    const std::shared_ptr<NodeRecord> copied = copy.record(found);
    copied->attachment = record->attachment;
    copied->known = record->known;
  }
  for (const GraphResource::Inner& inner : original.inner_graphs) {
    const CUgraphNode found = find_in_clone(inner.in_node, copy.handle);
    if (!found) continue;
    CUgraphNodeType type{};
    driver::call<&Api::cuGraphNodeGetType>(found, &type);
    if (type == CU_GRAPH_NODE_TYPE_GRAPH) copy_records(child_of(copy, found), *inner.graph);
  }
}

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI::graph {

using core::ContextChoice;
using core::ContextGuard;
using core::NodeRequest;
using cuprum::detail::GraphAccess;
using cuprum::detail::GraphResource;
using cuprum::detail::NodeRecord;
using driver::Api;
using driver::Doing;
using support::text;

namespace {

std::vector<CUgraphNode> place_of(const NodePlace& place) {
  const auto& record = GraphAccess::record(place);
  if (!record) return {};
  if (!record->handle) throw WrongState("adding a node behind another: that one was destroyed");
  return {record->handle};
}

template <typename Kind>
Kind add(const NodePlace& place, NodeRequest request) {
  GraphResource& graph = GraphAccess::graph(place);
  return GraphAccess::make<Kind>(GraphAccess::shared_graph(place), core::add_node(graph, place_of(place), request));
}

KernelNode add_kernel_node(const NodePlace& place, const LaunchConfig& config, NodeRequest request) {
  KernelNode node = add<KernelNode>(place, std::move(request));
  try {
    core::set_kernel_attributes(node.handle(), config);
  } catch (...) {
    node.destroy();
    throw;
  }
  return node;
}

template <typename Kind>
Kind add_conditional(const NodePlace& place, const GraphCondition& condition, GraphConditionalType type,
                     unsigned count) {
  GraphAccess::graph(place);
  ContextGuard guard(ContextChoice::current());
  return add<Kind>(place, core::conditional_request(guard.context(), condition, type, count));
}

}  // namespace

KernelNode NodePlace::add_kernel(const LaunchConfig& config, const Kernel& kernel,
                                 const cuprum::detail::ArgumentList& arguments,
                                 cuprum::detail::KeptBuffers buffers) const {
  GraphAccess::graph(*this);
  ContextGuard guard(ContextChoice::current());
  return add_kernel_node(*this, config, core::kernel_request(guard.context(), config, kernel, arguments, buffers));
}

KernelNode NodePlace::launch(const LaunchConfig& config, const Kernel& kernel, const KernelArguments& arguments) const {
  GraphAccess::graph(*this);
  ContextGuard guard(ContextChoice::current());
  return add_kernel_node(*this, config, core::kernel_request(guard.context(), config, kernel, arguments));
}

EmptyNode NodePlace::join(const std::vector<GraphNode>& nodes) const {
  GraphResource& graph = GraphAccess::graph(*this);
  std::vector<CUgraphNode> after = place_of(*this);
  for (const GraphNode& node : nodes) {
    const CUgraphNode handle = GraphAccess::node_of(graph, node, "joining").handle;
    if (std::find(after.begin(), after.end(), handle) == after.end()) after.push_back(handle);
  }
  NodeRequest request{};
  request.params.type = CU_GRAPH_NODE_TYPE_EMPTY;
  return GraphAccess::make<EmptyNode>(graph_, core::add_node(graph, after, request));
}

AllocNode NodePlace::allocate(std::size_t size, const GraphAllocOptions& options) const {
  GraphAccess::graph(*this);
  ContextGuard guard(ContextChoice::current());
  std::vector<CUmemAccessDesc> access;
  return add<AllocNode>(*this, core::alloc_request(guard.context(), size, options, access));
}

FreeNode NodePlace::deallocate(DevicePointer dptr) const { return add<FreeNode>(*this, core::free_request(dptr)); }

FreeNode NodePlace::deallocate(const AllocNode& node) const { return deallocate(node.dptr()); }

MemsetNode NodePlace::add_memset(const Operand& dst, cuprum::detail::FillPattern pattern, std::size_t width,
                                 std::size_t height, std::size_t pitch) const {
  GraphAccess::graph(*this);
  ContextGuard guard(ContextChoice::current());
  return add<MemsetNode>(*this, core::memset_request(guard.context(), dst, pattern, width, height, pitch));
}

MemsetNode NodePlace::memset(const Operand& dst, std::span<const std::byte> value, std::size_t width,
                             std::size_t height, std::size_t pitch) const {
  return add_memset(dst, cuprum::detail::FillPattern::of_bytes(value), width, height, pitch);
}

MemcpyNode NodePlace::memcpy(const Operand& dst, const Operand& src, std::size_t size) const {
  return memcpy(dst, src, CopyExtent{.width = size});
}

MemcpyNode NodePlace::memcpy(const Operand& dst, const Operand& src, const CopyExtent& extent) const {
  GraphAccess::graph(*this);
  ContextGuard guard(ContextChoice::current());
  return add<MemcpyNode>(*this, core::memcpy_request(guard.context(), dst, src, extent));
}

ChildGraphNode NodePlace::embed(const GraphDefinition& child) const {
  GraphResource& graph = GraphAccess::graph(*this);
  const GraphResource& original = GraphAccess::graph(child);
  auto node = add<ChildGraphNode>(*this, core::child_request(original.handle));
  try {
    core::copy_records(core::child_of(graph, node.handle()), original);
  } catch (...) {
    node.destroy();
    throw;
  }
  return node;
}

EventRecordNode NodePlace::record(const Event& event) const {
  return add<EventRecordNode>(*this, core::record_request(event));
}

EventWaitNode NodePlace::wait(const Event& event) const { return add<EventWaitNode>(*this, core::wait_request(event)); }

HostCallbackNode NodePlace::callback(std::function<void()> function) const {
  return add<HostCallbackNode>(*this, core::callback_request(std::move(function)));
}

HostCallbackNode NodePlace::callback(void (*function)(void*), void* user_data,
                                     std::shared_ptr<const void> owner) const {
  return add<HostCallbackNode>(*this, core::callback_request(function, user_data, std::move(owner)));
}

IfNode NodePlace::if_then(const GraphCondition& condition) const {
  return add_conditional<IfNode>(*this, condition, GraphConditionalType::if_, 1);
}

IfElseNode NodePlace::if_else(const GraphCondition& condition) const {
  return add_conditional<IfElseNode>(*this, condition, GraphConditionalType::if_, 2);
}

WhileNode NodePlace::while_loop(const GraphCondition& condition) const {
  return add_conditional<WhileNode>(*this, condition, GraphConditionalType::while_, 1);
}

SwitchNode NodePlace::switch_(const GraphCondition& condition, unsigned count) const {
  if (count == 0) throw InvalidArgument("a switch node of 0 branches: it needs at least one");
  return add_conditional<SwitchNode>(*this, condition, GraphConditionalType::switch_, count);
}

}  // namespace cuprum::inline CUPRUM_ABI::graph
