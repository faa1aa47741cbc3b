#include "softgpu/runtime/graphs/graph_checks.hpp"

#include "softgpu/runtime/code/function.hpp"
#include "softgpu/runtime/code/module.hpp"
#include "softgpu/runtime/graphs/graph_exec.hpp"

namespace softgpu::runtime {
namespace {

// `visit(node)` for the nodes of the graph and of all graphs inside of it.
template <typename Visit>
void for_each_node(const Graph& graph, Visit&& visit) {
  for (const auto& node : graph.nodes()) {
    visit(*node);
    for (const auto& inside : graphs_inside(node->work())) for_each_node(*inside, visit);
  }
}

[[noreturn]] void refuse_graph(CUgraphInstantiateResult result, const GraphNode* node, const char* why) {
  throw InstantiateFailure(CUDA_ERROR_INVALID_VALUE, result, node, why);
}

void check_order(const Graph& graph) {
  if (const GraphNode* node = graph.node_on_cycle())
    refuse_graph(CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, node, "the graph has a cycle");
  for (const auto& node : graph.nodes())
    for (const auto& inside : graphs_inside(node->work())) check_order(*inside);
}

void check_conditionals(const Graph& graph) {
  ConditionalVariables unused = graph.conditionals();
  if (unused.empty()) return;
  for_each_node(graph, [&](const GraphNode& node) {
    if (const auto* conditional = std::get_if<ConditionalWork>(&node.work())) std::erase(unused, conditional->variable);
  });
  if (!unused.empty())
    refuse_graph(CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED, nullptr,
                 "a conditional handle was created for the graph that none of its nodes uses");
}

void check_bodies(const Graph& graph) {
  const auto refuse_foreign = [](const GraphNode& node) {
    const CUgraphNodeType type = node.type();
    if (type == CU_GRAPH_NODE_TYPE_HOST)
      throw InstantiateFailure(CUDA_ERROR_NOT_SUPPORTED, CUDA_GRAPH_INSTANTIATE_ERROR, &node,
                               "the body of a conditional node has no functions of the host");
    if (type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL || type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT)
      throw InstantiateFailure(CUDA_ERROR_INVALID_VALUE, CUDA_GRAPH_INSTANTIATE_ERROR, &node,
                               "the body of a conditional node has no external semaphores");
  };
  for_each_node(graph, [&](const GraphNode& node) {
    if (node.type() != CU_GRAPH_NODE_TYPE_CONDITIONAL) return;
    for (const auto& body : graphs_inside(node.work())) for_each_node(*body, refuse_foreign);
  });
}

const Context* context_of_node(const NodeWork& work) {
  if (const auto* kernel = std::get_if<KernelWork>(&work)) return &kernel->module->context();
  if (const auto* copy = std::get_if<CopyWork>(&work)) return copy->context.get();
  if (const auto* fill = std::get_if<FillWork>(&work)) return fill->context.get();
  return nullptr;
}

bool uses_array(const NodeWork& work) {
  const auto* copy = std::get_if<CopyWork>(&work);
  return copy != nullptr && copy->request &&
         (copy->request->srcMemoryType == CU_MEMORYTYPE_ARRAY || copy->request->dstMemoryType == CU_MEMORYTYPE_ARRAY);
}

// What kernels are to launch.
void check_for_device(const Graph& graph) {
  const Context* context = nullptr;
  for_each_node(graph, [&](const GraphNode& node) {
    if (node.type() == CU_GRAPH_NODE_TYPE_GRAPH) return;
    const Context* own = context_of_node(node.work());
    if (own == nullptr || uses_array(node.work()))
      refuse_graph(CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, &node,
                   "a graph that kernels launch has kernels, copies of memory and sets, and child graphs of these");
    if (context != nullptr && own != context)
      refuse_graph(CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED, &node,
                   "the nodes of a graph that kernels launch are of one context");
    context = own;
  });
  if (context == nullptr)
    refuse_graph(CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, nullptr, "a graph that kernels launch is not empty");
}

void check_launching_kernels(const Graph& graph) {
  const Context* context = nullptr;
  for_each_node(graph, [&](const GraphNode& node) {
    const auto* kernel = std::get_if<KernelWork>(&node.work());
    if (kernel == nullptr || !kernel->function->facts().launches_graphs) return;
    if (context != nullptr && &kernel->module->context() != context)
      refuse_graph(CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED, &node,
                   "the kernels of a graph that launch graphs are of one context");
    context = &kernel->module->context();
  });
}

}  // namespace

const Graph& checked_for_instantiation(const Graph& graph, std::uint64_t flags) {
  check_order(graph);
  check_conditionals(graph);
  check_bodies(graph);
  check_launching_kernels(graph);
  if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0) check_for_device(graph);
  return graph;
}

bool has_updatable_nodes(const Graph& graph) {
  bool any = false;
  for_each_node(graph, [&](const GraphNode& node) { any = any || updatable(node.work()) != nullptr; });
  return any;
}

bool launches_graphs(const Graph& graph) {
  bool any = false;
  for_each_node(graph, [&](const GraphNode& node) {
    const auto* kernel = std::get_if<KernelWork>(&node.work());
    any = any || (kernel != nullptr && kernel->function->facts().launches_graphs);
  });
  return any;
}

}  // namespace softgpu::runtime
