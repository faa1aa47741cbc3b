// Nodes: adding them to graphs, and their parameters.
#include "softgpu/runtime/graphs/graph_node.hpp"

#include <algorithm>

#include "softgpu/api/code/functions.hpp"
#include "softgpu/api/graphs/graphs.hpp"
#include "softgpu/api/memory/pools.hpp"
#include "softgpu/runtime/code/cluster.hpp"
#include "softgpu/runtime/code/module.hpp"

namespace softgpu::api {
namespace {

using runtime::GraphNode;
using runtime::NodeWork;

template <typename Member>
void add(CUgraphNode* result, CUgraph graph, const CUgraphNode* dependencies, size_t count, CUgraphNodeType type,
         Member NodeParams::* member, const Member& value) {
  add_node(result, graph, dependencies, nullptr, count, node_params(type, member, value));
}

template <typename Member>
void set(CUgraphNode handle, CUgraphNodeType type, Member NodeParams::* member, const Member& value) {
  set_node(handle, node_params(type, member, value));
}

// Attributes stay when a kernel node gets other parameters.
void set_kernel(GraphNode& node, const CUDA_KERNEL_NODE_PARAMS_v3& params) {
  const auto& before = work_as<runtime::KernelWork>(node);
  auto work = std::get<runtime::KernelWork>(
      work_of(node_params(CU_GRAPH_NODE_TYPE_KERNEL, &NodeParams::kernel, params), node.graph()));
  keep_attributes(work, before);
  if (work.request.cluster)
    (void)runtime::cluster_of(work.function->facts(), work.function->settings(), work.request.grid,
                              work.request.cluster);
  work.updatable = before.updatable;
  node.set_work(std::move(work));
}

void give_kernel(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS_v3& params) {
  const auto node = find_node(handle);
  const auto& work = work_as<runtime::KernelWork>(*node);
  const CUfunction given = work.request.handle;
  const auto &grid = work.request.grid, &block = work.request.block;
  params = {};
  if (Driver::get().code().kernels.find(reinterpret_cast<CUkernel>(given)) != nullptr)
    params.kern = reinterpret_cast<CUkernel>(given);
  else
    params.func = given;
  params.gridDimX = grid.x, params.gridDimY = grid.y, params.gridDimZ = grid.z;
  params.blockDimX = block.x, params.blockDimY = block.y, params.blockDimZ = block.z;
  params.sharedMemBytes = work.request.dynamic_shared_bytes;
  auto pointers = std::make_shared<std::vector<void*>>();
  for (const auto& parameter : work.function->facts().params)
    pointers->push_back(const_cast<std::byte*>(work.arguments.data()) + parameter.offset);
  params.kernelParams = pointers->empty() ? nullptr : pointers->data();
  node->keep(pointers);
  params.ctx = work.request.green != nullptr ? work.request.green->context_handle() : work.module->context().handle();
}

}  // namespace

std::shared_ptr<GraphNode> add_node(CUgraphNode* result, CUgraph handle, const CUgraphNode* dependencies,
                                    const CUgraphEdgeData* edges, size_t count, const NodeParams& params) {
  require_pointer(result);
  const auto graph = find_graph(handle);
  const auto after = dependencies_of(dependencies, edges, count);
  auto node = graph->add(work_of(params, *graph), after);
  *result = node->handle();
  return node;
}

void set_node(CUgraphNode handle, const NodeParams& params) {
  const auto node = find_node(handle);
  require(node->type() == params.type, CUDA_ERROR_INVALID_VALUE, "a node of another type");
  node->set_work(work_of(params, node->graph()));
}

CUDA_KERNEL_NODE_PARAMS_v3 newest(const CUDA_KERNEL_NODE_PARAMS_v1& params) {
  return {params.func,         params.gridDimX,  params.gridDimY,  params.gridDimZ,
          params.blockDimX,    params.blockDimY, params.blockDimZ, params.sharedMemBytes,
          params.kernelParams, params.extra,     nullptr,          nullptr};
}

CUDA_KERNEL_NODE_PARAMS_v3 newest(const CUDA_KERNEL_NODE_PARAMS_v2& params) {
  return {params.func,         params.gridDimX,  params.gridDimY,  params.gridDimZ,
          params.blockDimX,    params.blockDimY, params.blockDimZ, params.sharedMemBytes,
          params.kernelParams, params.extra,     params.kern,      params.ctx};
}

CUDA_MEMCPY_NODE_PARAMS in_context(const CUDA_MEMCPY3D& params, CUcontext context) {
  return {.flags = 0, .reserved = 0, .copyCtx = context, .copyParams = params};
}

CUDA_MEMSET_NODE_PARAMS_v2 in_context(const CUDA_MEMSET_NODE_PARAMS_v1& params, CUcontext context) {
  return {params.dst, params.pitch, params.value, params.elementSize, params.width, params.height, context};
}

}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                           const CUgraphEdgeData* edges, size_t count, CUgraphNodeParams* params) {
  return call(__func__, [&] {
    require_pointer(params, "no parameters");
    if (params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) require_memory_pools();
    const auto added = add_node(node, graph, dependencies, edges, count, *params);
    if (const auto* work = std::get_if<runtime::AllocateWork>(&added->work()))
      params->alloc.dptr = work->allocation->address();
    if (const auto* work = std::get_if<runtime::ChildWork>(&added->work())) params->graph.graph = work->graph->handle();
    if (const auto* work = std::get_if<runtime::ConditionalWork>(&added->work()))
      params->conditional.phGraph_out = const_cast<CUgraph*>(work->handles.data());
  });
}
CUresult cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                        CUgraphNodeParams* params) {
  return cuGraphAddNode_v2(node, graph, dependencies, nullptr, count, params);
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* params) {
  return call(__func__, [&] {
    require_pointer(params, "no parameters");
    const auto found = find_node(node);
    require(found->type() == params->type, CUDA_ERROR_INVALID_VALUE, "parameters for another type of node");
    require(params->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC && params->type != CU_GRAPH_NODE_TYPE_MEM_FREE,
            CUDA_ERROR_INVALID_VALUE, "memory nodes can't be changed");
    require(params->type != CU_GRAPH_NODE_TYPE_CONDITIONAL, CUDA_ERROR_NOT_SUPPORTED,
            "the parameters of a conditional node can't be changed");
    if (params->type == CU_GRAPH_NODE_TYPE_KERNEL) return set_kernel(*found, params->kernel);
    found->set_work(work_of(*params, found->graph()));
  });
}

CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return call(__func__, [&] {
    require_pointer(params, "no parameters");
    add(node, graph, dependencies, count, CU_GRAPH_NODE_TYPE_KERNEL, &NodeParams::kernel, newest(*params));
  });
}
CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS* params) {
  return call(__func__, [&] {
    require_pointer(params, "no parameters");
    add(node, graph, dependencies, count, CU_GRAPH_NODE_TYPE_KERNEL, &NodeParams::kernel, newest(*params));
  });
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return call(__func__, [&] {
    require_pointer(params);
    CUDA_KERNEL_NODE_PARAMS_v3 found;
    give_kernel(node, found);
    *params = {found.func != nullptr ? found.func : reinterpret_cast<CUfunction>(found.kern),
               found.gridDimX,
               found.gridDimY,
               found.gridDimZ,
               found.blockDimX,
               found.blockDimY,
               found.blockDimZ,
               found.sharedMemBytes,
               found.kernelParams,
               found.extra};
  });
}
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* params) {
  return call(__func__, [&] {
    require_pointer(params);
    CUDA_KERNEL_NODE_PARAMS_v3 found;
    give_kernel(node, found);
    *params = {found.func,         found.gridDimX,  found.gridDimY,  found.gridDimZ,
               found.blockDimX,    found.blockDimY, found.blockDimZ, found.sharedMemBytes,
               found.kernelParams, found.extra,     found.kern,      found.ctx};
  });
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return call(__func__, [&] {
    require_pointer(params, "no parameters");
    set_kernel(*find_node(node), newest(*params));
  });
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* params) {
  return call(__func__, [&] {
    require_pointer(params, "no parameters");
    set_kernel(*find_node(node), newest(*params));
  });
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID id, CUkernelNodeAttrValue* value) {
  return call(__func__, [&] {
    require_pointer(value);
    const auto found = find_node(node);
    const auto& work = work_as<runtime::KernelWork>(*found);
    const CUlaunchAttribute asked{.id = id, .pad = {}, .value = {}};
    auto request = work.request;
    apply_attributes(request, {&asked, 1});  // whether there is such an attribute
    *value = {};
    const auto set = std::find_if(work.attributes.begin(), work.attributes.end(),
                                  [&](const CUlaunchAttribute& attribute) { return attribute.id == id; });
    if (set != work.attributes.end())
      *value = set->value;
    else if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY)
      value->priority = work.request.priority;
    else if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      value->cooperative = work.request.cooperative;
    else if (id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP)
      value->memSyncDomainMap = {.default_ = 0, .remote = 1};
  });
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID id, const CUkernelNodeAttrValue* value) {
  return call(__func__, [&] {
    require_pointer(value, "no value");
    const auto found = find_node(node);
    auto work = work_as<runtime::KernelWork>(*found);
    std::erase_if(work.attributes, [&](const CUlaunchAttribute& attribute) { return attribute.id == id; });
    work.attributes.push_back({.id = id, .pad = {}, .value = *value});
    apply_attributes(work.request, work.attributes);
    runtime::apply_updatable(work);
    // Here, too, this is where the handle of a node is given that kernels can change.
    if (id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
      const_cast<CUkernelNodeAttrValue*>(value)->deviceUpdatableKernelNode.devNode =
          work.attributes.back().value.deviceUpdatableKernelNode.devNode;
    found->set_work(std::move(work));
  });
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode target, CUgraphNode source) {
  return call(__func__, [&] {
    const auto to = find_node(target), from = find_node(source);
    const auto& model = work_as<runtime::KernelWork>(*from);
    auto work = work_as<runtime::KernelWork>(*to);
    require(model.updatable == nullptr && work.updatable == nullptr, CUDA_ERROR_INVALID_VALUE,
            "the attributes of a node that kernels can change are not copied");
    keep_attributes(work, model);
    to->set_work(std::move(work));
  });
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_MEMCPY3D* params, CUcontext context) {
  return call(__func__, [&] {
    require_pointer(params, "no parameters");
    add(node, graph, dependencies, count, CU_GRAPH_NODE_TYPE_MEMCPY, &NodeParams::memcpy, in_context(*params, context));
  });
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* params) {
  return call(__func__, [&] {
    require_pointer(params);
    *params = request_of(work_as<runtime::CopyWork>(*find_node(node)));
  });
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* params) {
  return call(__func__, [&] {
    require_pointer(params, "no parameters");
    const CUcontext context = work_as<runtime::CopyWork>(*find_node(node)).context->handle();
    set(node, CU_GRAPH_NODE_TYPE_MEMCPY, &NodeParams::memcpy, in_context(*params, context));
  });
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS* params, CUcontext context) {
  return call(__func__, [&] {
    require_pointer(params, "no parameters");
    add(node, graph, dependencies, count, CU_GRAPH_NODE_TYPE_MEMSET, &NodeParams::memset, in_context(*params, context));
  });
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* params) {
  return call(__func__, [&] {
    require_pointer(params);
    const auto found = find_node(node);
    const runtime::Fill& fill = work_as<runtime::FillWork>(*found).fill;
    *params = {runtime::to_device(fill.target), fill.pitch, fill.value, fill.element_bytes, fill.width, fill.height};
  });
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* params) {
  return call(__func__, [&] {
    require_pointer(params, "no parameters");
    const CUcontext context = work_as<runtime::FillWork>(*find_node(node)).context->handle();
    set(node, CU_GRAPH_NODE_TYPE_MEMSET, &NodeParams::memset, in_context(*params, context));
  });
}

CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                            const CUDA_HOST_NODE_PARAMS* params) {
  return call(__func__, [&] {
    require_pointer(params, "no parameters");
    add(node, graph, dependencies, count, CU_GRAPH_NODE_TYPE_HOST, &NodeParams::host, {params->fn, params->userData});
  });
}

CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* params) {
  return call(__func__, [&] {
    require_pointer(params);
    const auto found = find_node(node);
    const auto& work = work_as<runtime::HostWork>(*found);
    *params = {work.function, work.data};
  });
}

CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* params) {
  return call(__func__, [&] {
    require_pointer(params, "no parameters");
    set(node, CU_GRAPH_NODE_TYPE_HOST, &NodeParams::host, {params->fn, params->userData});
  });
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                  CUgraph child) {
  return call(__func__, [&] {
    add(node, graph, dependencies, count, CU_GRAPH_NODE_TYPE_GRAPH, &NodeParams::graph,
        {child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE});
  });
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* graph) {
  return call(__func__, [&] {
    require_pointer(graph);
    *graph = work_as<runtime::ChildWork>(*find_node(node)).graph->handle();
  });
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count) {
  return call(__func__, [&] {
    NodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_EMPTY;
    add_node(node, graph, dependencies, nullptr, count, params);
  });
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                   CUevent event) {
  return call(__func__, [&] {
    add(node, graph, dependencies, count, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &NodeParams::eventRecord, {event});
  });
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
  return call(__func__, [&] {
    require_pointer(event);
    *event = work_as<runtime::RecordWork>(*find_node(node)).handle;
  });
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return call(__func__, [&] { set(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &NodeParams::eventRecord, {event}); });
}

CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                 CUevent event) {
  return call(__func__, [&] {
    add(node, graph, dependencies, count, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &NodeParams::eventWait, {event});
  });
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
  return call(__func__, [&] {
    require_pointer(event);
    *event = work_as<runtime::WaitWork>(*find_node(node)).handle;
  });
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return call(__func__, [&] { set(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &NodeParams::eventWait, {event}); });
}

CUresult cuGraphAddBatchMemOpNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                  const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  return call(__func__, [&] {
    require_pointer(params, "no parameters");
    add(node, graph, dependencies, count, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, &NodeParams::memOp,
        {params->ctx, params->count, params->paramArray, params->flags});
  });
}

CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  return call(__func__, [&] {
    require_pointer(params);
    const auto found = find_node(node);
    const auto& work = work_as<runtime::MemoryOperationsWork>(*found);
    auto requests = std::make_shared<std::vector<CUstreamBatchMemOpParams>>();
    for (const auto& operation : work.operations) requests->push_back(request_of(operation));
    *params = {work.context->handle(), static_cast<unsigned>(requests->size()), requests->data(), 0};
    found->keep(requests);
  });
}

CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  return call(__func__, [&] {
    require_pointer(params, "no parameters");
    set(node, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, &NodeParams::memOp,
        {params->ctx, params->count, params->paramArray, params->flags});
  });
}

}  // extern "C"
