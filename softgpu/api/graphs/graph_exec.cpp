// Executable graphs.
#include "softgpu/runtime/graphs/graph_exec.hpp"

#include "softgpu/api/graphs/graphs.hpp"
#include "softgpu/api/work/streams.hpp"
#include "softgpu/runtime/work/stream_capture.hpp"

namespace softgpu::api {
namespace {

using runtime::GraphExec;
using runtime::GraphMismatch;

constexpr cuuint64_t kKnownFlags = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                   CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD | CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH |
                                   CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

std::shared_ptr<GraphExec> instantiate(CUgraphExec* result, CUgraph handle, cuuint64_t flags) {
  require_pointer(result);
  require((flags & ~kKnownFlags) == 0, CUDA_ERROR_INVALID_VALUE, "unknown flags");
  constexpr cuuint64_t kNotTogether =
      CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
  require((flags & kNotTogether) != kNotTogether, CUDA_ERROR_INVALID_VALUE,
          "a graph that kernels launch can't free memory on launch");
  const auto graph = find_graph(handle);
  runtime::require_unsafe_calls_allowed();
  require(!graph->is_child(), CUDA_ERROR_INVALID_VALUE, "a child graph is not instantiated by itself");
  auto exec = std::make_shared<GraphExec>(Driver::get().graphs(), *graph, flags);
  *result = Driver::get().graphs().execs.add(exec);
  exec->set_handle(*result);
  return exec;
}

// Says why there is none.
std::shared_ptr<GraphExec> instantiate_and_tell(CUgraphExec* result, CUgraph graph,
                                                CUDA_GRAPH_INSTANTIATE_PARAMS& params) {
  try {
    return instantiate(result, graph, params.flags);
  } catch (const runtime::InstantiateFailure& failure) {
    params.result_out = failure.result();
    if (failure.node() != nullptr) params.hErrNode_out = failure.node()->handle();
    throw;
  }
}

CUgraphNode handle_of(const runtime::GraphNode* node) { return node != nullptr ? node->handle() : nullptr; }

CUresult update(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo& info) {
  info = {CU_GRAPH_EXEC_UPDATE_ERROR, nullptr, nullptr};
  const GraphMismatch mismatch = find_exec(exec)->update(*find_graph(graph));
  info = {mismatch.result, handle_of(mismatch.node), handle_of(mismatch.from)};
  return mismatch.result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

}  // namespace

void set_exec_node(CUgraphExec handle, CUgraphNode node_handle, const NodeParams& params) {
  const auto exec = find_exec(handle);
  const auto node = find_node(node_handle);
  require(node->type() == params.type, CUDA_ERROR_INVALID_VALUE, "parameters for another type of node");
  require(params.type != CU_GRAPH_NODE_TYPE_CONDITIONAL, CUDA_ERROR_NOT_SUPPORTED,
          "the parameters of a conditional node can't be changed");
  if (params.type == CU_GRAPH_NODE_TYPE_GRAPH) {
    const GraphMismatch mismatch = exec->update_child(*node, *find_graph(params.graph.graph));
    require(mismatch.result == CU_GRAPH_EXEC_UPDATE_SUCCESS, CUDA_ERROR_INVALID_VALUE,
            "the child graph is not like the one that was instantiated");
    return;
  }
  exec->set_work(*node, work_of(params, node->graph()));
}

namespace {

template <typename Member>
void set(CUgraphExec exec, CUgraphNode node, CUgraphNodeType type, Member NodeParams::* member, const Member& value) {
  set_exec_node(exec, node, node_params(type, member, value));
}

}  // namespace

std::shared_ptr<GraphExec> find_exec(CUgraphExec handle) {
  auto exec = Driver::get().graphs().execs.find(handle);
  require_handle(exec != nullptr, CUDA_ERROR_INVALID_VALUE, "not an executable graph, or one that was destroyed");
  return exec;
}

}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  return call(__func__, [&] {
    require((flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) == 0, CUDA_ERROR_INVALID_VALUE, "no stream for the upload");
    instantiate(exec, graph, flags);
  });
}

CUresult cuGraphInstantiate_v2(CUgraphExec* exec, CUgraph graph, CUgraphNode* error_node, char* log, size_t bytes) {
  return call(__func__, [&] {
    if (error_node != nullptr) *error_node = nullptr;
    if (log != nullptr && bytes != 0) *log = '\0';
    instantiate(exec, graph, 0);
  });
}
CUresult cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, CUgraphNode* error_node, char* log, size_t bytes) {
  return cuGraphInstantiate_v2(exec, graph, error_node, log, bytes);
}

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuGraphInstantiateWithParams, _ptsz,
                              (CUgraphExec * exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* params), [&] {
                                require_pointer(params, "no parameters");
                                params->hErrNode_out = nullptr;
                                params->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
                                const bool uploads = (params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0;
                                if (uploads) find_stream(params->hUploadStream, null_stream);
                                const auto made = instantiate_and_tell(exec, graph, *params);
                                if (uploads) made->upload();
                                params->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
                              })

CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t* flags) {
  return call(__func__, [&] {
    require_pointer(flags);
    *flags = find_exec(exec)->flags() & ~cuuint64_t{CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY};
  });
}

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuGraphUpload, _ptsz, (CUgraphExec exec, CUstream stream), [&] {
  find_stream(stream, null_stream)->require_uncaptured();
  find_exec(exec)->upload();
})

SOFTGPU_FOR_BOTH_NULL_STREAMS(cuGraphLaunch, _ptsz, (CUgraphExec exec, CUstream stream), [&] {
  const auto found = find_stream(stream, null_stream);
  find_exec(exec)->launch(*found);
})

// What is under way goes on.
CUresult cuGraphExecDestroy(CUgraphExec exec) {
  return call(__func__, [&] {
    require_handle(Driver::get().graphs().execs.remove(exec) != nullptr, CUDA_ERROR_INVALID_VALUE,
                   "not an executable graph, or one that was destroyed");
  });
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  return call(__func__, [&] {
    require_pointer(info);
    return update(exec, graph, *info);
  });
}
CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* error_node, CUgraphExecUpdateResult* result) {
  return call(__func__, [&] {
    require_pointer(result);
    CUgraphExecUpdateResultInfo info;
    const CUresult code = update(exec, graph, info);
    *result = info.result;
    if (error_node != nullptr) *error_node = info.errorNode;
    return code;
  });
}

CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned enabled) {
  return call(__func__, [&] { find_exec(exec)->set_enabled(*find_node(node), enabled != 0); });
}

CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned* enabled) {
  return call(__func__, [&] {
    require_pointer(enabled);
    *enabled = find_exec(exec)->enabled(*find_node(node)) ? 1 : 0;
  });
}

CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* params) {
  return call(__func__, [&] {
    require_pointer(params, "no parameters");
    set_exec_node(exec, node, *params);
  });
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return call(__func__, [&] {
    require_pointer(params, "no parameters");
    set(exec, node, CU_GRAPH_NODE_TYPE_KERNEL, &NodeParams::kernel, newest(*params));
  });
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* params) {
  return call(__func__, [&] {
    require_pointer(params, "no parameters");
    set(exec, node, CU_GRAPH_NODE_TYPE_KERNEL, &NodeParams::kernel, newest(*params));
  });
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D* params,
                                        CUcontext context) {
  return call(__func__, [&] {
    require_pointer(params, "no parameters");
    set(exec, node, CU_GRAPH_NODE_TYPE_MEMCPY, &NodeParams::memcpy, in_context(*params, context));
  });
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* params,
                                        CUcontext context) {
  return call(__func__, [&] {
    require_pointer(params, "no parameters");
    set(exec, node, CU_GRAPH_NODE_TYPE_MEMSET, &NodeParams::memset, in_context(*params, context));
  });
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS* params) {
  return call(__func__, [&] {
    require_pointer(params, "no parameters");
    set(exec, node, CU_GRAPH_NODE_TYPE_HOST, &NodeParams::host, {params->fn, params->userData});
  });
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child) {
  return call(__func__, [&] {
    set(exec, node, CU_GRAPH_NODE_TYPE_GRAPH, &NodeParams::graph, {child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE});
  });
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  return call(__func__, [&] { set(exec, node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &NodeParams::eventRecord, {event}); });
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  return call(__func__, [&] { set(exec, node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &NodeParams::eventWait, {event}); });
}

CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS* params) {
  return call(__func__, [&] {
    require_pointer(params, "no parameters");
    set(exec, node, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, &NodeParams::memOp,
        {params->ctx, params->count, params->paramArray, params->flags});
  });
}

}  // extern "C"
