// Nodes that signal external semaphores and wait for them.
#include "softgpu/api/graphs/graphs.hpp"

namespace softgpu::api {
namespace {

// What the two kinds of node differ in.
struct SignalNodes {
  static constexpr CUgraphNodeType kType = CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL;
  static constexpr auto kMember = &NodeParams::extSemSignal;
  using Params = CUDA_EXT_SEM_SIGNAL_NODE_PARAMS;
  using Work = runtime::SignalSemaphoresWork;
};
struct WaitNodes {
  static constexpr CUgraphNodeType kType = CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT;
  static constexpr auto kMember = &NodeParams::extSemWait;
  using Params = CUDA_EXT_SEM_WAIT_NODE_PARAMS;
  using Work = runtime::WaitSemaphoresWork;
};

template <typename Nodes>
NodeParams as_node_params(const typename Nodes::Params* params) {
  require_pointer(params, "no parameters");
  NodeParams made{};
  made.type = Nodes::kType;
  made.*Nodes::kMember = {params->extSemArray, params->paramsArray, params->numExtSems};
  return made;
}

// The lists are the node's, until it gets other ones.
template <typename Nodes>
void give_semaphores(CUgraphNode handle, typename Nodes::Params* params) {
  require_pointer(params);
  const auto node = find_node(handle);
  const auto& work = work_as<typename Nodes::Work>(*node);
  *params = {const_cast<CUexternalSemaphore*>(work.handles.data()), work.params.data(),
             static_cast<unsigned>(work.handles.size())};
}

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuGraphAddExternalSemaphoresSignalNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                                size_t count, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* params) {
  return call(__func__,
              [&] { add_node(node, graph, dependencies, nullptr, count, as_node_params<SignalNodes>(params)); });
}

CUresult cuGraphAddExternalSemaphoresWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                              size_t count, const CUDA_EXT_SEM_WAIT_NODE_PARAMS* params) {
  return call(__func__,
              [&] { add_node(node, graph, dependencies, nullptr, count, as_node_params<WaitNodes>(params)); });
}

CUresult cuGraphExternalSemaphoresSignalNodeGetParams(CUgraphNode node, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* params) {
  return call(__func__, [&] { give_semaphores<SignalNodes>(node, params); });
}

CUresult cuGraphExternalSemaphoresWaitNodeGetParams(CUgraphNode node, CUDA_EXT_SEM_WAIT_NODE_PARAMS* params) {
  return call(__func__, [&] { give_semaphores<WaitNodes>(node, params); });
}

CUresult cuGraphExternalSemaphoresSignalNodeSetParams(CUgraphNode node, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* params) {
  return call(__func__, [&] { set_node(node, as_node_params<SignalNodes>(params)); });
}

CUresult cuGraphExternalSemaphoresWaitNodeSetParams(CUgraphNode node, const CUDA_EXT_SEM_WAIT_NODE_PARAMS* params) {
  return call(__func__, [&] { set_node(node, as_node_params<WaitNodes>(params)); });
}

CUresult cuGraphExecExternalSemaphoresSignalNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                          const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* params) {
  return call(__func__, [&] { set_exec_node(exec, node, as_node_params<SignalNodes>(params)); });
}

CUresult cuGraphExecExternalSemaphoresWaitNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                        const CUDA_EXT_SEM_WAIT_NODE_PARAMS* params) {
  return call(__func__, [&] { set_exec_node(exec, node, as_node_params<WaitNodes>(params)); });
}

}  // extern "C"
