// Graphs that are put together node by node, and conditions: see <cuprum/graph/definition.hpp>.
#include "bindings/graph_place.hpp"
#include "bindings/memory_resource.hpp"
#include "bindings/object_code.hpp"

/// Destroys what was deferred, too.
template <>
void nanobind::detail::wrap_destruct<cuprum::graph::GraphDefinition>(void* object) noexcept {
  cuprum::python::destroy_without_gil<cuprum::graph::GraphDefinition>(object);
}

namespace cuprum::python {
namespace {

using graph::GraphCondition;
using graph::GraphDefinition;

nb::set edges_of(const GraphDefinition& self) {
  nb::set edges;
  for (const auto& [from, to] : self.edges()) edges.add(nb::make_tuple(node_object(from), node_object(to)));
  return edges;
}

graph::GraphPictureOptions picture_options(const std::string& title, nb::handle milliseconds, bool handles) {
  graph::GraphPictureOptions options{.title = title, .handles = handles};
  if (!milliseconds.is_none()) {
    if (!nb::isinstance<nb::dict>(milliseconds))
      throw nb::type_error(
          ("milliseconds must be a dict of nodes and their times, not " + type_of(milliseconds)).c_str());
    for (const auto [node, time] : nb::borrow<nb::dict>(milliseconds))
      options.milliseconds[node_from(node)] = value_from<double>(time, "a time in milliseconds");
  }
  return options;
}

}  // namespace

graph::GraphAllocOptions alloc_options_from(nb::handle device, nb::handle memory_type, nb::handle peer_access) {
  graph::GraphAllocOptions options;
  if (!device.is_none()) options.device = device_from(device, "device");
  if (!memory_type.is_none()) {
    const std::string word = nb::cast<std::string>(nb::str(memory_type));
    if (word == "device") {
      options.memory_type = graph::GraphMemoryType::device;
    } else if (word == "host") {
      options.memory_type = graph::GraphMemoryType::host;
    } else if (word == "managed") {
      options.memory_type = graph::GraphMemoryType::managed;
    } else {
      throw nb::value_error(
          ("'" + word + "' is not a valid GraphMemoryType. Must be one of 'device', 'host', 'managed'").c_str());
    }
  }
  if (!peer_access.is_none()) {
    for (const nb::handle peer : items_of(peer_access, "peer_access", "a sequence of devices or their numbers"))
      options.peer_access.push_back(device_from(peer, "each of peer_access"));
  }
  return options;
}

void bind_graph_condition(nb::module_& module) {
  nb::class_<GraphCondition> bound(module, "GraphCondition", nb::is_weak_referenceable(),
                                   "A number of a graph by which conditional nodes decide. Kernels take it as an "
                                   "argument and set it by cudaGraphSetConditional.\n\n"
                                   ">>> from cuprum.graph import GraphDefinition\n"
                                   ">>> graph = GraphDefinition()\n"
                                   ">>> again = graph.create_condition(default_value=0)\n"
                                   ">>> loop = graph.while_loop(again)\n"
                                   ">>> loop.condition == again\n"
                                   "True\n");
  forbid_construction(bound, "GraphCondition objects cannot be instantiated directly: use create_condition().");
  bound.def_prop_ro("handle", &GraphCondition::handle, "The CUgraphConditionalHandle, as an int.")
      .def(Equality<GraphCondition>())
      .def("__repr__",
           [](const GraphCondition& self) { return "<GraphCondition handle=" + hexadecimal(self.handle()) + ">"; });
}

void bind_graph_definition(nb::module_& module) {
  nb::class_<GraphDefinition> bound(module, "GraphDefinition", nb::is_weak_referenceable(),
                                    "A graph that is put together node by node.\n\n"
                                    ">>> from cuprum.graph import GraphDefinition\n"
                                    ">>> graph = GraphDefinition()\n"
                                    ">>> first, second = graph.empty(), graph.empty()\n"
                                    ">>> graph.join(first, second).pred == {first, second}\n"
                                    "True\n");
  bound.def(nb::init<>());
  bind_place<GraphDefinition>(bound);
  bound.def(
           "empty", [](const GraphDefinition& self) { return node_object(self.empty()); }, "A node that does nothing.")
      .def(
          "create_condition",
          [](const GraphDefinition& self, std::optional<unsigned> value) { return self.create_condition(value); },
          "default_value"_a = nb::none(),
          "A number for conditional nodes. With a default value it has that at the beginning of each launch.")
      .def(
          "instantiate",
          [](const GraphDefinition& self, nb::handle options) {
            const graph::GraphCompleteOptions wanted = complete_options_from(options);
            return with_runtime_errors([&] { return without_gil([&] { return self.instantiate(wanted); }); });
          },
          "options"_a = nb::none(), "What the graph is now, ready to be launched.")
      .def("clone", &GraphDefinition::clone, "An independent copy.")
      .def(
          "nodes", [](const GraphDefinition& self) { return nb::set(node_objects(self.nodes())); }, "All nodes.")
      .def("edges", &edges_of, "All edges, as pairs of nodes: from, to.")
      .def(
          "debug_dot_print",
          [](const GraphDefinition& self, nb::handle path, nb::handle options) {
            self.debug_dot_print(path_from(path), debug_print_options_from(options));
          },
          "path"_a, "options"_a = nb::none(), "Has the driver write the graph in the language of Graphviz.")
      .def(
          "to_dot",
          [](const GraphDefinition& self, const std::string& title, nb::handle milliseconds, bool handles) {
            return self.to_dot(picture_options(title, milliseconds, handles));
          },
          nb::kw_only(), "title"_a = "", "milliseconds"_a = nb::none(), "handles"_a = false,
          "The graph in the language of Graphviz, for people.")
      .def(
          "save_svg",
          [](const GraphDefinition& self, nb::handle path, const std::string& title, nb::handle milliseconds,
             bool handles) {
            const graph::GraphPictureOptions options = picture_options(title, milliseconds, handles);
            const std::string file = path_from(path);
            without_gil([&] { self.save_svg(file, options); });
          },
          "path"_a, nb::kw_only(), "title"_a = "", "milliseconds"_a = nb::none(), "handles"_a = false,
          "Has Graphviz draw that.")
      .def_prop_ro(
          "handle",
          [](const GraphDefinition& self) { return raw_handle("CUgraph", self.is_valid() ? self.handle() : nullptr); },
          "The CUgraph.")
      .def(Equality<GraphDefinition>())
      .def("__repr__", [](const GraphDefinition& self) {
        const auto handle = self.is_valid() ? reinterpret_cast<std::uint64_t>(self.handle()) : 0;
        return "<GraphDefinition handle=" + hexadecimal(handle) + ">";
      });
}

}  // namespace cuprum::python
