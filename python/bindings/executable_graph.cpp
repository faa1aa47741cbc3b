// Graphs that are ready to run: see <cuprum/graph/executable.hpp>.
#include "bindings/graph.hpp"
#include "bindings/memory_resource.hpp"

/// Destroys what was deferred, too.
template <>
void nanobind::detail::wrap_destruct<cuprum::graph::Graph>(void* object) noexcept {
  cuprum::python::destroy_without_gil<cuprum::graph::Graph>(object);
}

namespace cuprum::python {
namespace {

using namespace cuprum::graph;

/// The executable node that belongs to a definition's node of one of the kinds.
template <typename... Kinds>
nb::object executable_node(const Graph& self, const GraphNode& node) {
  nb::object found;
  const auto look = [&]<typename Kind>(std::optional<Kind> kind) {
    if (kind) found = nb::cast(self[*kind]);
    return kind.has_value();
  };
  (look(node.as<Kinds>()) || ...);
  return found;
}

nb::object get_node(const Graph& self, nb::handle object) {
  const GraphNode& node = node_from(object);
  if (!self.is_open()) throw nb::value_error("executable graph has been closed");
  if (!node.is_valid()) throw nb::value_error("source graph node is no longer valid");
  nb::object found = executable_node<KernelNode, MemsetNode, MemcpyNode, ChildGraphNode, EventRecordNode, EventWaitNode,
                                     HostCallbackNode>(self, node);
  if (!found.is_valid()) {
    const std::string name = nb::cast<std::string>(object.type().attr("__name__"));
    throw nb::type_error((name + " does not support executable updates").c_str());
  }
  return found;
}

void update(const Graph& self, nb::handle source) {
  const bool is_builder = nb::isinstance<GraphBuilder>(source);
  if (!is_builder && !nb::isinstance<GraphDefinition>(source))
    throw nb::type_error(("source: expected GraphBuilder or GraphDefinition, got " + type_of(source)).c_str());
  try {
    if (is_builder) {
      self.update(nb::cast<const GraphBuilder&>(source));
    } else {
      self.update(nb::cast<const GraphDefinition&>(source));
    }
  } catch (const WrongState& error) {
    throw nb::value_error(error.what());
  } catch (const InvalidArgument& error) {
    throw_error("GraphUpdateError", (std::string("Graph update failed: ") + error.what()).c_str());
  }
}

template <typename Class>
void bind_switch(nb::class_<Class, ExecutableGraphNode>& bound) {
  bound.def("enable", &Class::enable, "Takes disable() back.")
      .def("disable", &Class::disable, "Makes the node do nothing; others still wait for it.")
      .def_prop_ro("is_enabled", &Class::is_enabled, "True unless it was disabled.");
}

void bind_executable_nodes(nb::module_& module) {
  nb::class_<ExecutableGraphNode> base(
      module, "ExecutableGraphNode",
      "A node of a graph that is ready to run: graph[node]. What is changed holds from the next launch on.\n\n"
      ">>> from cuprum.graph import GraphDefinition\n"
      ">>> definition = GraphDefinition()\n"
      ">>> node = definition.callback(print)\n"
      ">>> graph = definition.instantiate()\n"
      ">>> graph[node].node == node\n"
      "True\n");
  forbid_construction(base, "directly constructing an executable graph node is not supported: use graph[node]");
  base.def_prop_ro(
      "node", [](const ExecutableGraphNode& self) { return node_object(self.node()); }, "The node of the definition.");
  nb::class_<ExecutableKernelNode, ExecutableGraphNode> kernel(module, "ExecutableKernelNode", "Launches a kernel.");
  kernel.def(
      "update",
      [](const ExecutableKernelNode& self, nb::handle config, nb::handle wanted, nb::handle arguments) {
        const LaunchConfig& shape = config_from(config);
        const Kernel& other = kernel_from(wanted);
        with_kernel_arguments(other, arguments,
                              [&](const KernelArguments& values) { self.update(shape, other, values); });
      },
      nb::kw_only(), "config"_a.none(), "kernel"_a.none(), "args"_a.none(),
      "Another shape, kernel and arguments, for later launches.");
  bind_switch(kernel);
  nb::class_<ExecutableMemsetNode, ExecutableGraphNode> memset(module, "ExecutableMemsetNode", "Sets memory.");
  memset.def(
      "update",
      [](const ExecutableMemsetNode& self, nb::handle dst, nb::handle value, std::size_t width, std::size_t height,
         std::size_t pitch) {
        const std::vector<std::byte> bytes = fill_value(value);
        self.update(operand_from(dst, nb::none(), "dst"), bytes, width, height, pitch);
      },
      nb::kw_only(), "dst"_a.none(), "value"_a.none(), "width"_a, "height"_a = 1, "pitch"_a = 0,
      "Another fill, for later launches.");
  bind_switch(memset);
  nb::class_<ExecutableMemcpyNode, ExecutableGraphNode> memcpy(module, "ExecutableMemcpyNode", "Copies memory.");
  memcpy.def(
      "update",
      [](const ExecutableMemcpyNode& self, nb::handle dst, nb::handle src, std::size_t size) {
        const Operand target = operand_from(dst, nb::none(), "dst");
        self.update(target, operand_from(src, nb::none(), "src"), size);
      },
      nb::kw_only(), "dst"_a.none(), "src"_a.none(), "size"_a, "Another copy, for later launches.");
  bind_switch(memcpy);
  nb::class_<ExecutableChildGraphNode, ExecutableGraphNode>(module, "ExecutableChildGraphNode",
                                                            "Runs a graph of its own.")
      .def(
          "update", [](const ExecutableChildGraphNode& self, const GraphDefinition& child) { self.update(child); },
          "child"_a, "Another graph of the same shape, for later launches.");
  nb::class_<ExecutableEventRecordNode, ExecutableGraphNode>(module, "ExecutableEventRecordNode", "Records an event.")
      .def(
          "update", [](const ExecutableEventRecordNode& self, nb::handle event) { self.update(event_from(event)); },
          "event"_a.none(), "Another event, for later launches.");
  nb::class_<ExecutableEventWaitNode, ExecutableGraphNode>(module, "ExecutableEventWaitNode", "Waits for an event.")
      .def(
          "update", [](const ExecutableEventWaitNode& self, nb::handle event) { self.update(event_from(event)); },
          "event"_a.none(), "Another event, for later launches.");
  nb::class_<ExecutableHostCallbackNode, ExecutableGraphNode>(module, "ExecutableHostCallbackNode",
                                                              "Calls a function of the host.")
      .def(
          "update",
          [](const ExecutableHostCallbackNode& self, nb::handle function, nb::handle user_data) {
            with_host_function(function, user_data,
                               [&]<typename... Host>(Host&&... host) { self.update(std::forward<Host>(host)...); });
          },
          "fn"_a.none(), nb::kw_only(), "user_data"_a = nb::none(), "Another function, for later launches.");
}

}  // namespace

void bind_executable_graph(nb::module_& module) {
  bind_executable_nodes(module);
  nb::class_<Graph> bound(
      module, "Graph", nb::is_weak_referenceable(),
      "A graph that is ready to run. Made by GraphBuilder.complete and GraphDefinition.instantiate.\n\n"
      ">>> from cuprum import Device\n"
      ">>> from cuprum.graph import GraphDefinition\n"
      ">>> device = Device(); device.set_current()\n"
      ">>> stream, seen, definition = device.create_stream(), [], GraphDefinition()\n"
      ">>> node = definition.callback(lambda: seen.append('ran'))\n"
      ">>> graph = definition.instantiate()\n"
      ">>> graph.launch(stream); stream.sync(); seen\n"
      "['ran']\n");
  forbid_construction(bound,
                      "directly constructing a Graph instance is not supported: use GraphBuilder.complete() or "
                      "GraphDefinition.instantiate()");
  bound
      .def(
          "launch",
          [](const Graph& self, nb::handle stream) {
            if (const Stream* own = exactly<Stream>(stream)) return without_gil([&] { self.launch(*own); });
            const Stream queue = stream_from(stream);
            without_gil([&] { self.launch(queue); });
          },
          "stream"_a.none(), "Queues the whole graph on a stream as one piece of work, and returns.")
      .def(
          "upload",
          [](const Graph& self, nb::handle stream) {
            const Stream queue = stream_from(stream);
            without_gil([&] { self.upload(queue); });
          },
          "stream"_a.none(), "Does what the first launch would otherwise do beside running it.")
      .def("update", &update, "source"_a.none(),
           "Makes the graph do what another one of the same nodes and edges says, from the next launch on.")
      .def("__getitem__", &get_node, "node"_a.none(), "A view of a node, by the node of the definition.")
      .def_prop_ro(
          "handle", [](const Graph& self) { return raw_handle("CUgraphExec", self.handle()); }, "The CUgraphExec.")
      .def("close", &Graph::close, WithoutGil(), "Releases the graph. What was launched still runs.")
      .def(Equality<Graph>())
      .def("__repr__", [](const Graph& self) {
        std::ostringstream text;
        text << self;
        return "<" + text.str() + ">";
      });
}

}  // namespace cuprum::python
