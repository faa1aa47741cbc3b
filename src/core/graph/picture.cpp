// Pictures of graphs.
#include <algorithm>
#include <cuprum/graph/definition.hpp>
#include <iomanip>
#include <sstream>

#include "core/graph/graphviz.hpp"
#include "core/graph/resources.hpp"
#include "support/text.hpp"
#include "support/write_file.hpp"

namespace cuprum::inline CUPRUM_ABI::graph {
namespace {

using driver::Api;
using support::text;

std::string escaped(const std::string& label) {
  std::string out;
  for (const char c : label) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

/// "4", "4 x 2", "4 x 2 x 3".
std::string extents_in_words(const Dim3& extents) {
  if (extents.z != 1) return text(extents.x, " x ", extents.y, " x ", extents.z);
  if (extents.y != 1) return text(extents.x, " x ", extents.y);
  return text(extents.x);
}

std::string bytes_in_words(std::size_t bytes) {
  const std::pair<std::size_t, const char*> units[] = {
      {std::size_t{1} << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}};
  for (const auto& [size, name] : units) {
    if (bytes >= size && bytes % size == 0) return text(bytes / size, " ", name);
  }
  return text(bytes, bytes == 1 ? " byte" : " bytes");
}

std::string kernel_name(const KernelNode& node) {
  try {
    return node.kernel().name();
  } catch (const Error&) {
    // Captured, or of other code: there is a CUfunction in the place of a kernel. Drivers before 12.3 don't tell its
    // name.
    const char* name = nullptr;
    CUDA_KERNEL_NODE_PARAMS params{};
    if (driver::try_call<&Api::cuGraphKernelNodeGetParams>(node.handle(), &params) == CUDA_SUCCESS && params.func &&
        driver::try_call<&Api::cuFuncGetName>(&name, params.func) == CUDA_SUCCESS && name)
      return name;
    return "kernel";
  }
}

std::string kernel_label(const KernelNode& node) {
  const std::string name = kernel_name(node);
  const auto count = [](const Dim3& extents, const char* what) {
    return text(extents_in_words(extents), " ", what, extents == Dim3() ? "" : "s");
  };
  std::string label = text(name, "\n", count(node.grid(), "block"), " of ", count(node.block(), "thread"));
  if (const std::size_t shared = node.shmem_size()) label += text("\n", bytes_in_words(shared), " shared");
  return label;
}

std::string memcpy_label(const MemcpyNode& node) {
  const CopyExtent extent = node.extent();
  if (extent.depth > 1)
    return text("copy\n", extent.depth, " x ", extent.height, " rows of ", bytes_in_words(extent.width));
  if (extent.height > 1) return text("copy\n", extent.height, " rows of ", bytes_in_words(extent.width));
  return text("copy\n", bytes_in_words(extent.width));
}

std::string memset_label(const MemsetNode& node) {
  std::string label = "fill\n";
  if (node.height() > 1) label += text(node.height(), " rows of ");
  return label + text(bytes_in_words(node.width() * node.element_size()), " with 0x", std::hex, node.value());
}

struct Look {
  std::string label;
  const char* shape = "box";
  std::vector<std::pair<DevicePointer, const char*>> addresses = {};
};

Look conditional_look(const ConditionalNode& node) {
  const auto type = node.cond_type();
  if (!type) return {"condition", "diamond"};
  if (*type == GraphConditionalType::if_) return {"if", "diamond"};
  return {*type == GraphConditionalType::while_ ? "while" : "switch", "diamond"};
}

Look look_of(const GraphNode& node) {
  switch (node.type()) {
    case GraphNodeType::kernel: return {kernel_label(*node.as<KernelNode>())};
    case GraphNodeType::memcpy: {
      const MemcpyNode copy = *node.as<MemcpyNode>();
      return {memcpy_label(copy), "box", {{copy.dst(), "to "}, {copy.src(), "from "}}};
    }
    case GraphNodeType::memset: {
      const MemsetNode fill = *node.as<MemsetNode>();
      return {memset_label(fill), "box", {{fill.dptr(), ""}}};
    }
    case GraphNodeType::alloc: {
      const AllocNode alloc = *node.as<AllocNode>();
      return {text("allocate\n", bytes_in_words(alloc.bytesize())), "box", {{alloc.dptr(), ""}}};
    }
    case GraphNodeType::free: return {"free", "box", {{node.as<FreeNode>()->dptr(), ""}}};
    case GraphNodeType::host: return {"callback", "ellipse"};
    case GraphNodeType::event_record: return {"record event", "ellipse"};
    case GraphNodeType::event_wait: return {"wait for event", "ellipse"};
    case GraphNodeType::empty: return {"", "point"};
    case GraphNodeType::child_graph: return {"graph", "box3d"};
    case GraphNodeType::conditional: return conditional_look(*node.as<ConditionalNode>());
    default: return {text(node.type())};
  }
}

/// The nodes on the way that takes longest; empty when no times are known or there is no order.
std::vector<GraphNode> critical_path(const std::vector<GraphNode>& nodes, const GraphPictureOptions& options) {
  if (options.milliseconds.empty()) return {};
  std::unordered_map<GraphNode, std::size_t> waits_for;
  for (const GraphNode& node : nodes) waits_for[node] = node.pred().size();
  std::unordered_map<GraphNode, double> until_end;
  std::unordered_map<GraphNode, GraphNode> longest_before;
  std::vector<GraphNode> ready;
  for (const GraphNode& node : nodes) {
    if (waits_for[node] == 0) ready.push_back(node);
  }
  GraphNode last;
  double most = 0;
  while (!ready.empty()) {
    const GraphNode node = ready.back();
    ready.pop_back();
    const auto own = options.milliseconds.find(node);
    const double end = (until_end[node] += own == options.milliseconds.end() ? 0 : own->second);
    if (end > most) {
      most = end;
      last = node;
    }
    for (const GraphNode& next : node.succ()) {
      if (end > until_end[next] || !longest_before.contains(next)) {
        until_end[next] = end;
        longest_before[next] = node;
      }
      if (--waits_for[next] == 0) ready.push_back(next);
    }
  }
  std::vector<GraphNode> path;
  for (GraphNode node = last; node.is_valid();) {
    path.push_back(node);
    const auto before = longest_before.find(node);
    node = before == longest_before.end() ? GraphNode() : before->second;
  }
  return path;
}

/// Writes one graph after the other, with names that are numbers: so that the same graph gives the same text.
class DotWriter {
 public:
  explicit DotWriter(const GraphPictureOptions& options) : options_(options) { out_.imbue(std::locale::classic()); }

  std::string write(const GraphDefinition& graph) {
    out_ << "digraph graph_ {\n  compound=true;\n  node [fontname=\"Helvetica\", fontsize=11];\n";
    if (!options_.title.empty()) out_ << "  label=\"" << escaped(options_.title) << "\"; labelloc=t;\n";
    nodes_of(graph, "  ");
    out_ << "}\n";
    return std::move(out_).str();
  }

 private:
  void nodes_of(const GraphDefinition& graph, const std::string& indent) {
    const std::vector<GraphNode> nodes = graph.nodes();
    const std::vector<GraphNode> path = critical_path(nodes, options_);
    const auto is_critical = [&](const GraphNode& node) {
      return std::find(path.begin(), path.end(), node) != path.end();
    };
    for (const GraphNode& node : nodes) write_node(node, is_critical(node), indent);
    for (const auto& [from, to] : graph.edges()) {
      out_ << indent << number_of(from) << " -> " << number_of(to);
      const auto at = std::find(path.begin(), path.end(), to);
      const bool is_step = at != path.end() && at + 1 != path.end() && at[1] == from;
      out_ << (is_step ? " [color=red, penwidth=2];\n" : ";\n");
    }
  }

  void write_node(const GraphNode& node, bool is_critical, const std::string& indent) {
    Look look = look_of(node);
    if (const auto time = options_.milliseconds.find(node); time != options_.milliseconds.end())
      look.label += text("\n", time->second, " ms");
    if (options_.handles) {
      look.label += text("\n", static_cast<const void*>(node.handle()));
      for (const auto& [address, word] : look.addresses)
        look.label += text("\n", word, reinterpret_cast<const void*>(address));
    }
    out_ << indent << number_of(node) << " [label=\"" << escaped(look.label) << "\", shape=" << look.shape
         << (is_critical ? ", color=red, penwidth=2" : "") << "];\n";
    if (const auto child = node.as<ChildGraphNode>()) write_inner(node, child->child_graph(), "", indent);
    if (const auto conditional = node.as<ConditionalNode>()) write_branches(*conditional, indent);
  }

  void write_branches(const ConditionalNode& node, const std::string& indent) {
    const std::vector<GraphDefinition> branches = node.branches();
    for (std::size_t i = 0; i < branches.size(); ++i) {
      const auto type = node.cond_type();
      const std::string label = type == GraphConditionalType::switch_  ? text("case ", i)
                                : type == GraphConditionalType::while_ ? "body"
                                : i == 0                               ? "then"
                                                                       : "else";
      write_inner(node, branches[i], label, indent);
    }
  }

  /// A frame with the graph in it; an arrow of dashes leads there.
  void write_inner(const GraphNode& node, const GraphDefinition& graph, const std::string& label,
                   const std::string& indent) {
    const std::size_t frame = frames_++;
    out_ << indent << "subgraph cluster_" << frame << " {\n"
         << indent << "  label=\"" << label << "\"; style=rounded;\n"
         << indent << "  in_" << frame << " [shape=point, style=invis];\n";
    nodes_of(graph, indent + "  ");
    out_ << indent << "}\n"
         << indent << number_of(node) << " -> in_" << frame << " [style=dashed, lhead=cluster_" << frame << "];\n";
  }

  std::string number_of(const GraphNode& node) {
    return text("n", numbers_.try_emplace(node, numbers_.size()).first->second);
  }

  const GraphPictureOptions& options_;
  std::ostringstream out_;
  std::unordered_map<GraphNode, std::size_t> numbers_;
  std::size_t frames_ = 0;
};

}  // namespace

std::string GraphDefinition::to_dot(const GraphPictureOptions& options) const {
  return DotWriter(options).write(*this);
}

void GraphDefinition::save_svg(const std::string& path, const GraphPictureOptions& options) const {
  if (const int error = support::try_write_file(path, core::draw_as_svg(to_dot(options))))
    throw SystemError(text("the picture '", path, "' can't be written"), error);
}

}  // namespace cuprum::inline CUPRUM_ABI::graph
