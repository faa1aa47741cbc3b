#include <cuprum/graph/definition.hpp>
#include <cuprum/graph/nodes.hpp>
#include <functional>

#include "core/code/captured_kernels.hpp"
#include "core/code/kernel_resource.hpp"
#include "core/graph/add_nodes.hpp"
#include "core/graph/node_attributes.hpp"
#include "core/graph/node_params.hpp"
#include "core/graph/resources.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI::graph {

using core::ContextGuard;
using core::NodeRequest;
using cuprum::detail::GraphAccess;
using cuprum::detail::GraphResource;
using cuprum::detail::NodeRecord;
using driver::Api;
using driver::Doing;
using support::text;

namespace {

template <auto Entry, typename Params>
Params read(const GraphNode& node) {
  Params params{};
  driver::call<Entry>(Doing{[&] { return text("reading the parameters of ", node); }}, GraphAccess::node(node).handle,
                      &params);
  return params;
}

CUDA_KERNEL_NODE_PARAMS kernel_params(const GraphNode& node) {
  return read<&Api::cuGraphKernelNodeGetParams, CUDA_KERNEL_NODE_PARAMS>(node);
}

CUDA_MEMSET_NODE_PARAMS memset_params(const GraphNode& node) {
  return read<&Api::cuGraphMemsetNodeGetParams, CUDA_MEMSET_NODE_PARAMS>(node);
}

CUDA_MEMCPY3D memcpy_params(const GraphNode& node) {
  return read<&Api::cuGraphMemcpyNodeGetParams, CUDA_MEMCPY3D>(node);
}

CUDA_MEM_ALLOC_NODE_PARAMS alloc_params(const GraphNode& node) {
  return read<&Api::cuGraphMemAllocNodeGetParams, CUDA_MEM_ALLOC_NODE_PARAMS>(node);
}

void set(const GraphNode& node, NodeRequest request) {
  core::set_node(GraphAccess::graph(node), GraphAccess::node(node), request);
}

bool is_of(const GraphNode& node, GraphNodeType type) { return node.is_valid() && node.type() == type; }

// `renew` is called behind a change of the node, with which what the driver has told of it before is gone.
void set_kernel(
    const GraphNode& node, const LaunchConfig& config, NodeRequest request,
    const std::function<void(NodeRequest&)>& renew = [](NodeRequest&) {}) {
  const LaunchConfig before = core::kernel_attributes(GraphAccess::node(node).handle);
  LaunchConfig between = before;
  if (config.cluster != before.cluster) between.cluster.reset();  // the shape need not fit those that are there
  core::set_kernel_attributes(node.handle(), between, before);
  try {
    renew(request);
    set(node, std::move(request));
  } catch (...) {
    core::set_kernel_attributes(node.handle(), before, between);
    throw;
  }
  core::set_kernel_attributes(node.handle(), config, between);
  if (!core::have_same_fixed_attributes(config, before))
    GraphAccess::node(node).last_change_of_fixed_attributes = core::count_change_of_fixed_attributes();
}

// Which of a node's owners belongs to what is left as it was.
std::shared_ptr<const void> owner_of(const GraphNode& node, std::size_t index) {
  const core::Owners& owners = GraphAccess::node(node).attachment.owners;
  return index < owners.size() ? owners[index] : nullptr;
}

// Nodes of this library copy from and to addresses alone; those that were captured, or that other code added, need not.
void check_begins_at_address(const GraphNode& node, CUmemorytype type, std::size_t offsets) {
  if (type != CU_MEMORYTYPE_ARRAY && offsets == 0) return;
  throw NotSupported(text(node,
                          " copies from or to an array, or a part that begins at an offset: that can't be said by "
                          "an address. Give update() both sides and the shape"));
}

// A handle that was closed still stands for an event that the graph keeps.
Event known_event(const GraphNode& node, CUevent handle) {
  const Event& known = GraphAccess::node(node).known.event;
  if (known == Event() || known.handle() != handle) return Event::from_handle(handle);
  return known;
}

}  // namespace

// ---- Kernels --------------------------------------------------------------------------------------------------------

Dim3 KernelNode::grid() const {
  const CUDA_KERNEL_NODE_PARAMS params = kernel_params(*this);
  return {params.gridDimX, params.gridDimY, params.gridDimZ};
}

Dim3 KernelNode::block() const {
  const CUDA_KERNEL_NODE_PARAMS params = kernel_params(*this);
  return {params.blockDimX, params.blockDimY, params.blockDimZ};
}

std::size_t KernelNode::shmem_size() const { return kernel_params(*this).sharedMemBytes; }

Kernel KernelNode::kernel() const {
  const CUDA_KERNEL_NODE_PARAMS params = kernel_params(*this);
  const Kernel& known = GraphAccess::node(*this).known.kernel;
  if (known.handle() && (!params.kern || known.handle() == params.kern)) return known;
  if (auto captured = core::captured_kernel(params.func))
    return cuprum::detail::Access::make_kernel(std::move(captured));
  if (params.kern) return Kernel::from_handle(params.kern);
  throw NotSupported(text("the kernel of ", *this,
                          ": it was added by other code as a CUfunction, of which the driver doesn't tell the kernel"));
}

LaunchConfig KernelNode::config() const {
  const CUDA_KERNEL_NODE_PARAMS params = kernel_params(*this);
  LaunchConfig config = core::kernel_attributes(GraphAccess::node(*this).handle);
  const Dim3 cluster = config.cluster.value_or(Dim3());
  config.grid = {params.gridDimX / cluster.x, params.gridDimY / cluster.y, params.gridDimZ / cluster.z};
  config.block = {params.blockDimX, params.blockDimY, params.blockDimZ};
  config.shmem_size = params.sharedMemBytes;
  return config;
}

void KernelNode::update(const LaunchConfig& config) const {
  const Kernel kernel = this->kernel();
  ContextGuard guard(core::ContextChoice::current());
  // The arguments were compared with the kernel's parameters before: no sizes.
  const std::size_t count = kernel.known_arguments_info() ? kernel.known_arguments_info()->size() : 0;
  NodeRequest request =
      core::kernel_request(guard.context(), config, kernel, {kernel_params(*this).kernelParams, nullptr, count}, {});
  request.owners = GraphAccess::node(*this).attachment.owners;
  set_kernel(*this, config, std::move(request), [this](NodeRequest& renewed) {
    const CUDA_KERNEL_NODE_PARAMS now = kernel_params(*this);
    renewed.params.kernel.kernelParams = now.kernelParams;
    renewed.params.kernel.extra = now.extra;
  });
}

void KernelNode::replace(const cuprum::detail::ArgumentList& arguments, cuprum::detail::KeptBuffers buffers) const {
  replace(config(), kernel(), arguments, std::move(buffers));
}

void KernelNode::replace(const LaunchConfig& config, const Kernel& kernel,
                         const cuprum::detail::ArgumentList& arguments, cuprum::detail::KeptBuffers buffers) const {
  GraphAccess::node(*this);
  ContextGuard guard(core::ContextChoice::current());
  set_kernel(*this, config, core::kernel_request(guard.context(), config, kernel, arguments, buffers));
}

void KernelNode::update(const LaunchConfig& config, const Kernel& kernel, const KernelArguments& arguments) const {
  GraphAccess::node(*this);
  ContextGuard guard(core::ContextChoice::current());
  set_kernel(*this, config, core::kernel_request(guard.context(), config, kernel, arguments));
}

// ---- Memory ---------------------------------------------------------------------------------------------------------

DevicePointer AllocNode::dptr() const { return alloc_params(*this).dptr; }

std::size_t AllocNode::bytesize() const { return alloc_params(*this).bytesize; }

int AllocNode::device_id() const {
  const CUmemLocation location = alloc_params(*this).poolProps.location;
  return location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : 0;
}

GraphMemoryType AllocNode::memory_type() const {
  const CUmemPoolProps properties = alloc_params(*this).poolProps;
  if (properties.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED) return GraphMemoryType::managed;
  return properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE ? GraphMemoryType::device : GraphMemoryType::host;
}

std::vector<Device> AllocNode::peer_access() const {
  const CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params(*this);
  std::vector<Device> devices;
  for (std::size_t i = 0; i < params.accessDescCount; ++i) devices.emplace_back(params.accessDescs[i].location.id);
  return devices;
}

DevicePointer FreeNode::dptr() const { return read<&Api::cuGraphMemFreeNodeGetParams, CUdeviceptr>(*this); }

DevicePointer MemsetNode::dptr() const { return memset_params(*this).dst; }

std::uint32_t MemsetNode::value() const { return memset_params(*this).value; }

unsigned MemsetNode::element_size() const { return memset_params(*this).elementSize; }

std::size_t MemsetNode::width() const { return memset_params(*this).width; }

std::size_t MemsetNode::height() const { return memset_params(*this).height; }

std::size_t MemsetNode::pitch() const { return memset_params(*this).pitch; }

void MemsetNode::replace(const Operand& dst, cuprum::detail::FillPattern pattern, std::size_t width, std::size_t height,
                         std::size_t pitch) const {
  GraphAccess::node(*this);
  ContextGuard guard(core::ContextChoice::current());
  set(*this, core::memset_request(guard.context(), dst, pattern, width, height, pitch));
}

void MemsetNode::replace(cuprum::detail::FillPattern pattern) const {
  const CUDA_MEMSET_NODE_PARAMS before = memset_params(*this);
  const std::size_t bytes = before.width * before.elementSize;
  if (bytes % pattern.width != 0) {
    throw InvalidArgument(text("another value for ", *this, ": its rows of ", bytes,
                               " bytes are not a multiple of the value's ", pattern.width));
  }
  replace(dst_operand(), pattern, bytes / pattern.width, before.height, before.pitch);
}

Operand MemsetNode::dst_operand() const { return Operand(dptr(), owner_of(*this, 0)); }

void MemsetNode::update(const Operand& dst) const {
  const CUDA_MEMSET_NODE_PARAMS before = memset_params(*this);
  replace(dst, {before.value, before.elementSize}, before.width, before.height, before.pitch);
}

DevicePointer MemcpyNode::dst() const { return core::dst_address(memcpy_params(*this)); }

DevicePointer MemcpyNode::src() const { return core::src_address(memcpy_params(*this)); }

std::size_t MemcpyNode::size() const {
  const CUDA_MEMCPY3D copy = memcpy_params(*this);
  return copy.WidthInBytes * copy.Height * copy.Depth;
}

CopyExtent MemcpyNode::extent() const {
  const CUDA_MEMCPY3D copy = memcpy_params(*this);
  return {.width = copy.WidthInBytes,
          .height = copy.Height,
          .depth = copy.Depth,
          .dst_pitch = copy.dstPitch,
          .src_pitch = copy.srcPitch,
          .dst_height = copy.dstHeight,
          .src_height = copy.srcHeight};
}

void MemcpyNode::update(const Operand& dst, const Operand& src, std::size_t size) const {
  update(dst, src, CopyExtent{.width = size});
}

void MemcpyNode::update(const Operand& dst, const Operand& src, const CopyExtent& extent) const {
  GraphAccess::node(*this);
  ContextGuard guard(core::ContextChoice::current());
  set(*this, core::memcpy_request(guard.context(), dst, src, extent));
}

Operand MemcpyNode::dst_operand() const {
  const CUDA_MEMCPY3D copy = memcpy_params(*this);
  check_begins_at_address(*this, copy.dstMemoryType, copy.dstXInBytes + copy.dstY + copy.dstZ + copy.dstLOD);
  return Operand(core::dst_address(copy), owner_of(*this, 0));
}

Operand MemcpyNode::src_operand() const {
  const CUDA_MEMCPY3D copy = memcpy_params(*this);
  check_begins_at_address(*this, copy.srcMemoryType, copy.srcXInBytes + copy.srcY + copy.srcZ + copy.srcLOD);
  return Operand(core::src_address(copy), owner_of(*this, 1));
}

void MemcpyNode::update_dst(const Operand& dst) const { update(dst, src_operand(), extent()); }

void MemcpyNode::update_src(const Operand& src) const { update(dst_operand(), src, extent()); }

// ---- Child graphs, events and callbacks -----------------------------------------------------------------------------

namespace {

/// Handles of graphs inside of one graph share what keeps that.
bool share_a_graph(const NodePlace& a, const NodePlace& b) {
  const auto& graph_of_a = GraphAccess::shared_graph(a);
  const auto& graph_of_b = GraphAccess::shared_graph(b);
  return !graph_of_a.owner_before(graph_of_b) && !graph_of_b.owner_before(graph_of_a);
}

/// Whether a graph is `wanted`, or has it in a node. For handles that do not share what keeps them: other wrappers.
/// Conditional nodes don't matter: the driver takes no child that has some.
bool has_inside(CUgraph graph, CUgraph wanted) {
  if (graph == wanted) return true;
  const GraphDefinition view = GraphDefinition::from_handle(graph);
  for (const GraphNode& node : view.nodes()) {
    const auto child = node.as<ChildGraphNode>();
    if (child && has_inside(child->child_graph().handle(), wanted)) return true;
  }
  return false;
}

}  // namespace

GraphDefinition ChildGraphNode::child_graph() const {
  GraphResource& graph = GraphAccess::graph(*this);
  return GraphAccess::definition(graph_, core::child_of(graph, GraphAccess::node(*this).handle));
}

void ChildGraphNode::update(const GraphDefinition& child) const {
  GraphResource& graph = GraphAccess::graph(*this);
  const GraphResource& original = GraphAccess::graph(child);
  const CUgraphNode node = GraphAccess::node(*this).handle;
  if (share_a_graph(*this, child) || has_inside(original.handle, graph.handle) ||
      has_inside(core::child_of(graph, node).handle, original.handle))
    throw InvalidArgument("another graph for a child graph node: the node is part of that graph; clone() it first");
  set(*this, core::child_request(original.handle));
  graph.forget_inner(node);
  core::copy_records(core::child_of(graph, node), original);
}

Event EventRecordNode::event() const {
  return known_event(*this, read<&Api::cuGraphEventRecordNodeGetEvent, CUevent>(*this));
}

void EventRecordNode::update(const Event& event) const { set(*this, core::record_request(event)); }

Event EventWaitNode::event() const {
  return known_event(*this, read<&Api::cuGraphEventWaitNodeGetEvent, CUevent>(*this));
}

void EventWaitNode::update(const Event& event) const { set(*this, core::wait_request(event)); }

std::function<void()> HostCallbackNode::callback() const {
  const auto& known = GraphAccess::node(*this).known.callback;
  const auto params = read<&Api::cuGraphHostNodeGetParams, CUDA_HOST_NODE_PARAMS>(*this);
  return known && params.userData == known.get() ? known->function : nullptr;
}

void HostCallbackNode::update(std::function<void()> function) const {
  set(*this, core::callback_request(std::move(function)));
}

void HostCallbackNode::update(void (*function)(void*), void* user_data, std::shared_ptr<const void> owner) const {
  set(*this, core::callback_request(function, user_data, std::move(owner)));
}

// ---- Conditions -----------------------------------------------------------------------------------------------------

namespace {

const core::KnownConditional* known_conditional(const GraphNode& node) {
  const auto& known = GraphAccess::node(node).known.conditional;
  return known ? &*known : nullptr;
}

bool is_conditional_of(const GraphNode& node, GraphConditionalType type, std::optional<std::size_t> branches) {
  if (!is_of(node, GraphNodeType::conditional)) return false;
  const core::KnownConditional* known = known_conditional(node);
  return known && known->type == type && (!branches || known->bodies.size() == *branches);
}

GraphDefinition branch(const ConditionalNode& node, std::size_t index) {
  const std::vector<GraphDefinition> branches = node.branches();
  if (index >= branches.size())
    throw InvalidArgument(text("branch ", index, " of ", node, ": it has ", branches.size()));
  return branches[index];
}

}  // namespace

std::optional<GraphCondition> ConditionalNode::condition() const {
  const core::KnownConditional* known = known_conditional(*this);
  return known ? std::optional(known->condition) : std::nullopt;
}

std::optional<GraphConditionalType> ConditionalNode::cond_type() const {
  const core::KnownConditional* known = known_conditional(*this);
  return known ? std::optional(known->type) : std::nullopt;
}

std::vector<GraphDefinition> ConditionalNode::branches() const {
  std::vector<GraphDefinition> branches;
  if (const core::KnownConditional* known = known_conditional(*this)) {
    for (CUgraph body : known->bodies)
      branches.push_back(GraphAccess::definition(graph_, GraphAccess::graph(*this).inner(body, handle())));
  }
  return branches;
}

GraphDefinition IfNode::then() const { return branch(*this, 0); }

GraphDefinition IfElseNode::then() const { return branch(*this, 0); }

GraphDefinition IfElseNode::else_() const { return branch(*this, 1); }

GraphDefinition WhileNode::body() const { return branch(*this, 0); }

// ---- Which kind a node is -------------------------------------------------------------------------------------------

bool EmptyNode::is_kind_of(const GraphNode& node) { return is_of(node, GraphNodeType::empty); }
bool KernelNode::is_kind_of(const GraphNode& node) { return is_of(node, GraphNodeType::kernel); }
bool AllocNode::is_kind_of(const GraphNode& node) { return is_of(node, GraphNodeType::alloc); }
bool FreeNode::is_kind_of(const GraphNode& node) { return is_of(node, GraphNodeType::free); }
bool MemsetNode::is_kind_of(const GraphNode& node) { return is_of(node, GraphNodeType::memset); }
bool MemcpyNode::is_kind_of(const GraphNode& node) { return is_of(node, GraphNodeType::memcpy); }
bool ChildGraphNode::is_kind_of(const GraphNode& node) { return is_of(node, GraphNodeType::child_graph); }
bool EventRecordNode::is_kind_of(const GraphNode& node) { return is_of(node, GraphNodeType::event_record); }
bool EventWaitNode::is_kind_of(const GraphNode& node) { return is_of(node, GraphNodeType::event_wait); }
bool HostCallbackNode::is_kind_of(const GraphNode& node) { return is_of(node, GraphNodeType::host); }
bool ConditionalNode::is_kind_of(const GraphNode& node) { return is_of(node, GraphNodeType::conditional); }
bool IfNode::is_kind_of(const GraphNode& node) { return is_conditional_of(node, GraphConditionalType::if_, 1); }
bool IfElseNode::is_kind_of(const GraphNode& node) { return is_conditional_of(node, GraphConditionalType::if_, 2); }
bool WhileNode::is_kind_of(const GraphNode& node) { return is_conditional_of(node, GraphConditionalType::while_, {}); }
bool SwitchNode::is_kind_of(const GraphNode& node) {
  return is_conditional_of(node, GraphConditionalType::switch_, {});
}

}  // namespace cuprum::inline CUPRUM_ABI::graph
