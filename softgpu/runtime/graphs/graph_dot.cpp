// Graphs as Graphviz draws them.
#include <fstream>
#include <iterator>
#include <string>

#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/code/cluster.hpp"
#include "softgpu/runtime/code/function.hpp"
#include "softgpu/runtime/graphs/graph.hpp"
#include "softgpu/runtime/graphs/graph_memory.hpp"

namespace softgpu::runtime {
namespace {

// By CUgraphNodeType.
constexpr const char* kTypeNames[] = {
    "KERNEL",       "MEMCPY",           "MEMSET",         "HOST",      "GRAPH",    "EMPTY",        "WAIT_EVENT",
    "EVENT_RECORD", "EXT_SEMAS_SIGNAL", "EXT_SEMAS_WAIT", "MEM_ALLOC", "MEM_FREE", "BATCH_MEM_OP", "CONDITIONAL"};

// What a node's label says beside its type.
struct Details {
  std::string operator()(const KernelWork& work) const {
    return work.function->facts().name + "\\ngrid " + text(work.request.grid) + ", block " + text(work.request.block);
  }
  std::string operator()(const CopyWork& work) const { return std::to_string(work.copy.bytes()) + " bytes"; }
  std::string operator()(const FillWork& work) const { return std::to_string(work.fill.bytes()) + " bytes"; }
  std::string operator()(const AllocateWork& work) const { return std::to_string(work.allocation->bytes()) + " bytes"; }
  template <typename Work>
  std::string operator()(const Work&) const {
    return {};
  }
};

void write_nodes(std::ostream& out, const Graph& graph, bool details) {
  const auto name = [](const GraphNode& node) { return "node_" + std::to_string(node.id()); };
  for (const auto& node : graph.nodes()) {
    out << "  " << name(*node) << " [label=\"" << kTypeNames[node->type()];
    if (const std::string more = std::visit(Details{}, node->work()); details && !more.empty()) out << "\\n" << more;
    out << "\"];\n";
    for (const GraphEdge& edge : node->dependents()) out << "  " << name(*node) << " -> " << name(*edge.node) << ";\n";
    const auto inside = graphs_inside(node->work());
    for (std::size_t i = 0; i < inside.size(); ++i) {
      out << "  subgraph cluster_" << node->id() << "_" << i << " {\n  label=\"graph " << i << " of " << name(*node)
          << "\";\n";
      write_nodes(out, *inside[i], details);
      out << "  }\n";
    }
  }
}

}  // namespace

void write_dot(const Graph& graph, const char* path, unsigned flags) {
  std::ofstream out(path);
  out << "digraph dot {\n  node [shape=box];\n";
  write_nodes(out, graph, flags != 0);
  out << "}\n";
  out.flush();
  require(out.good(), CUDA_ERROR_OPERATING_SYSTEM, "the file can't be written");
}

}  // namespace softgpu::runtime
