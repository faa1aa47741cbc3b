// Graphs as Graphviz draws them.
#include <cstddef>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/code/cluster.hpp"
#include "softgpu/runtime/code/function.hpp"
#include "softgpu/runtime/graphs/conditional.hpp"
#include "softgpu/runtime/graphs/graph.hpp"
#include "softgpu/runtime/graphs/graph_memory.hpp"

namespace softgpu::runtime {
namespace {

// By CUgraphNodeType.
struct TypeName {
  const char* driver;
  const char* runtime;
};
constexpr TypeName kTypeNames[] = {{"KERNEL", "Kernel"},
                                   {"MEMCPY", "Memcpy"},
                                   {"MEMSET", "Memset"},
                                   {"HOST", "Host"},
                                   {"GRAPH", "Graph"},
                                   {"EMPTY", "Empty"},
                                   {"WAIT_EVENT", "WaitEvent"},
                                   {"EVENT_RECORD", "EventRecord"},
                                   {"EXT_SEMAS_SIGNAL", "ExtSemaphoreSignal"},
                                   {"EXT_SEMAS_WAIT", "ExtSemaphoreWait"},
                                   {"MEM_ALLOC", "MemAlloc"},
                                   {"MEM_FREE", "MemFree"},
                                   {"BATCH_MEM_OP", "BatchMemOp"},
                                   {"CONDITIONAL", "Conditional"}};
constexpr const char* kConditionNames[] = {"if", "while", "switch"};

// A line of a label.
template <typename... Parts>
std::string label_line(const Parts&... parts) {
  std::ostringstream text;
  text << "\\n";
  (text << ... << parts);
  return text.str();
}

// What a node's label says beside its type: a kernel's name, and what the flags ask for.
struct LabelDetails {
  unsigned flags;

  bool wants(unsigned flag) const { return (flags & (flag | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE)) != 0; }

  std::string operator()(const KernelWork& work) const {
    std::string text = label_line(work.function->facts().name);
    if (wants(CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES)) text += label_line("function ", work.request.handle);
    if (wants(CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS))
      text += label_line("grid ", runtime::text(work.request.grid), ", block ", runtime::text(work.request.block), ", ",
                         work.request.dynamic_shared_bytes, " bytes of shared memory");
    if (wants(CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES))
      text += label_line("priority ", work.request.priority, work.request.cooperative ? ", cooperative" : "");
    return text;
  }
  std::string operator()(const CopyWork& work) const {
    if (!wants(CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS)) return {};
    const Copy& copy = work.copy;
    return label_line(static_cast<const void*>(copy.source), " to ", static_cast<const void*>(copy.target)) +
           label_line(copy.width, " bytes x ", copy.height, " x ", copy.depth);
  }
  std::string operator()(const FillWork& work) const {
    if (!wants(CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS)) return {};
    const Fill& fill = work.fill;
    return label_line(static_cast<const void*>(fill.target), " to ", fill.value) +
           label_line(fill.width, " x ", fill.height, " elements of ", fill.element_bytes, " bytes");
  }
  std::string operator()(const HostWork& work) const {
    if (!wants(CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS)) return {};
    return label_line("function ", reinterpret_cast<const void*>(work.function), " of ", work.data);
  }
  std::string operator()(const WaitWork& work) const { return event(work.handle); }
  std::string operator()(const RecordWork& work) const { return event(work.handle); }
  std::string operator()(const SignalSemaphoresWork& work) const {
    return semaphores(work, CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_SIGNAL_NODE_PARAMS);
  }
  std::string operator()(const WaitSemaphoresWork& work) const {
    return semaphores(work, CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_WAIT_NODE_PARAMS);
  }
  std::string operator()(const AllocateWork& work) const {
    if (!wants(CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS)) return {};
    return label_line(work.allocation->bytes(), " bytes at ",
                      reinterpret_cast<const void*>(work.allocation->address()));
  }
  std::string operator()(const FreeWork& work) const {
    if (!wants(CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS)) return {};
    return label_line(reinterpret_cast<const void*>(work.allocation->address()));
  }
  std::string operator()(const MemoryOperationsWork& work) const {
    if (!wants(CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS)) return {};
    return label_line(work.operations.size(), " operations");
  }
  std::string operator()(const ConditionalWork& work) const {
    if (!wants(CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS)) return {};
    return label_line(kConditionNames[work.type], " with ", work.bodies.size(), " bodies, handle ",
                      reinterpret_cast<const void*>(work.variable->handle()));
  }
  template <typename Work>
  std::string operator()(const Work&) const {
    return {};
  }

 private:
  std::string event(CUevent handle) const {
    return wants(CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS) ? label_line("event ", handle) : std::string();
  }
  template <typename Work>
  std::string semaphores(const Work& work, unsigned flag) const {
    std::string text;
    if (wants(flag))
      for (std::size_t i = 0; i < work.handles.size(); ++i)
        text += label_line("semaphore ", work.handles[i], ", value ", work.values[i].value);
    return text;
  }
};

class DotWriter {
 public:
  DotWriter(std::ostream& out, unsigned flags) : out_(out), details_{flags} {}

  void write(const Graph& graph) {
    for (const auto& node : graph.nodes()) {
      write_node(*node);
      for (const GraphEdge& edge : node->dependents()) write_edge(*node, edge);
      const auto inside = graphs_inside(node->work());
      for (std::size_t i = 0; i < inside.size(); ++i) {
        out_ << "  subgraph cluster_" << node->id() << "_" << i << " {\n  label=\"graph " << i << " of " << name(*node)
             << "\";\n";
        write(*inside[i]);
        out_ << "  }\n";
      }
    }
  }

 private:
  static std::string name(const GraphNode& node) { return "node_" + std::to_string(node.id()); }

  void write_node(const GraphNode& node) {
    const TypeName& type = kTypeNames[node.type()];
    const bool as_runtime = (details_.flags & CU_GRAPH_DEBUG_DOT_FLAGS_RUNTIME_TYPES) != 0;
    out_ << "  " << name(node) << " [label=\"";
    if (as_runtime)
      out_ << "cudaGraphNodeType" << type.runtime;
    else
      out_ << type.driver;
    out_ << std::visit(details_, node.work());
    if (details_.wants(CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES)) out_ << "\\nnode " << node.handle();
    if (details_.wants(CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO))
      out_ << "\\nafter " << node.dependencies().size() << ", before " << node.dependents().size() << " nodes";
    out_ << "\"];\n";
  }
  void write_edge(const GraphNode& from, const GraphEdge& edge) {
    out_ << "  " << name(from) << " -> " << name(*edge.node);
    if (details_.wants(CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO) && edge.data.type != CU_GRAPH_DEPENDENCY_TYPE_DEFAULT)
      out_ << " [label=\"programmatic, port " << int{edge.data.from_port} << "\"]";
    out_ << ";\n";
  }

  std::ostream& out_;
  const LabelDetails details_;
};

}  // namespace

void write_dot(const Graph& graph, const char* path, unsigned flags) {
  std::ofstream out(path);
  out << "digraph dot {\n  node [shape=box];\n";
  DotWriter(out, flags).write(graph);
  out << "}\n";
  out.flush();
  require(out.good(), CUDA_ERROR_OPERATING_SYSTEM, "the file can't be written");
}

}  // namespace softgpu::runtime
