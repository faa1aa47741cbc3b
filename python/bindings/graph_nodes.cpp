// The kinds of nodes: see <cuprum/graph/nodes.hpp>.
#include "bindings/graph_place.hpp"

namespace cuprum::python {
namespace {

using namespace cuprum::graph;

template <typename Handle>
std::string address_text(Handle* handle) {
  return hexadecimal(reinterpret_cast<std::uint64_t>(handle));
}

std::string node_text(const char* kind, const GraphNode& node, const std::string& rest = "") {
  return std::string("<") + kind + " handle=" + address_text(node.handle()) + rest + ">";
}

/// The same with what `details` says; nothing more is known of a node that was destroyed, or may be of one that other
/// code added.
template <typename Node, typename Details>
std::string node_text_with(const char* kind, const Node& node, Details&& details) {
  try {
    if (node.is_valid()) return node_text(kind, node, " " + details());
  } catch (const Error&) {
    // what it is may be shown without that
  }
  return node_text(kind, node);
}

/// " condition=0x…", where it is known.
std::string condition_text(const char* kind, const ConditionalNode& node) {
  return node_text_with(kind, node, [&] {
    const std::optional<GraphCondition> condition = node.condition();
    return "condition=" + hexadecimal(condition ? condition->handle() : 0);
  });
}

/// Whether an address is one that the device has, "D", or the host's, "H".
const char* memory_letter(DevicePointer address) {
  const Buffer memory = Buffer::from_handle(address, 1);
  return memory.is_device_accessible() && !memory.is_host_accessible() ? "(D)" : "(H)";
}

template <typename Kind>
bool try_kind(const GraphNode& node, nb::object& object) {
  const std::optional<Kind> kind = node.as<Kind>();
  if (kind) object = nb::cast(*kind);
  return kind.has_value();
}

/// The set of the nodes before or behind a node; cuprum.graph makes a Python set of it.
nb::object adjacency(const GraphNode& node, bool behind) {
  return nb::module_::import_("cuprum.graph").attr("AdjacencySetProxy")(node_object(node), behind);
}

// One node stands for a list of it.
std::vector<GraphNode> nodes_from(nb::handle nodes) {
  if (nb::isinstance<GraphNode>(nodes)) return {node_from(nodes)};
  std::vector<GraphNode> found;
  for (const nb::handle node : nb::borrow<nb::object>(nodes)) found.push_back(node_from(node));
  return found;
}

nb::object node_type(const GraphNode& node) {
  if (!node.is_valid()) return nb::none();
  return raw_handle("CUgraphNodeType", static_cast<std::uint64_t>(node.type()));
}

void update_kernel(const KernelNode& self, nb::handle config, nb::handle kernel, nb::handle arguments) {
  if (arguments.is_none()) {
    if (!kernel.is_none()) throw nb::value_error("changing kernel requires args");
    if (!config.is_none()) self.update(config_from(config));
    return;
  }
  const LaunchConfig shape = config.is_none() ? self.config() : config_from(config);
  const Kernel wanted = kernel.is_none() ? self.kernel() : kernel_from(kernel);
  with_kernel_arguments(wanted, arguments, [&](const KernelArguments& values) { self.update(shape, wanted, values); });
}

void update_memset(const MemsetNode& self, nb::handle dst, nb::handle value, std::optional<std::size_t> width,
                   std::optional<std::size_t> height, std::optional<std::size_t> pitch, nb::handle dst_owner) {
  if (dst.is_none() && !dst_owner.is_none()) throw nb::value_error("dst_owner requires dst");
  if (dst.is_none() && value.is_none() && !width && !height && !pitch) return;
  const Operand target = dst.is_none() ? self.dst_operand() : operand_from(dst, dst_owner, "dst");
  std::vector<std::byte> bytes;
  if (value.is_none()) {
    const std::uint32_t bits = self.value();
    const auto all = std::as_bytes(std::span(&bits, 1));
    bytes.assign(all.begin(), all.begin() + self.element_size());
  } else {
    bytes = fill_value(value);
  }
  self.update(target, bytes, width.value_or(self.width()), height.value_or(self.height()),
              pitch.value_or(self.pitch()));
}

void update_memcpy(const MemcpyNode& self, nb::handle dst, nb::handle src, std::optional<std::size_t> size,
                   nb::handle dst_owner, nb::handle src_owner) {
  if (dst.is_none() && !dst_owner.is_none()) throw nb::value_error("dst_owner requires dst");
  if (src.is_none() && !src_owner.is_none()) throw nb::value_error("src_owner requires src");
  if (dst.is_none() && src.is_none() && !size) return;
  const std::size_t row = self.extent().width;
  if (self.extent() != CopyExtent{.width = row})
    throw NotSupported("a multidimensional or pitched copy can't be updated: add another node in its place");
  // As cuda.core has it, the node decides, whatever it is to become: of arrays and offsets these know.
  const Operand old_target = self.dst_operand(), old_source = self.src_operand();
  self.update(dst.is_none() ? old_target : operand_from(dst, dst_owner, "dst"),
              src.is_none() ? old_source : operand_from(src, src_owner, "src"), size.value_or(row));
}

nb::object memory_type_of(const AllocNode& self) {
  const char* words[] = {"device", "host", "managed"};
  return member_of("GraphMemoryType", words[static_cast<int>(self.memory_type())]);
}

nb::object conditional_type_of(const ConditionalNode& self) {
  const std::optional<GraphConditionalType> type = self.cond_type();
  if (!type) return nb::none();
  const char* words[] = {"if", "while", "switch"};
  return member_of("GraphConditionalType", words[static_cast<int>(*type)]);
}

void bind_node(nb::module_& module) {
  nb::class_<GraphNode> bound(module, "GraphNode", nb::is_weak_referenceable(),
                              "A node of a graph. New nodes that it makes run after it.\n\n"
                              ">>> from cuprum.graph import GraphDefinition\n"
                              ">>> graph = GraphDefinition()\n"
                              ">>> first = graph.empty()\n"
                              ">>> second = first.callback(print)\n"
                              ">>> second.pred == {first} and first.succ == {second}\n"
                              "True\n");
  forbid_construction(bound, "GraphNode objects cannot be instantiated directly: use the functions of a graph.");
  bind_place<GraphNode>(bound);
  bound.def_prop_ro("type", &node_type, "What it does, as a CUgraphNodeType; None for a node that was destroyed.")
      .def_prop_ro("graph", &GraphNode::graph, "The graph that it is in.")
      .def_prop_ro(
          "handle",
          [](const GraphNode& self) -> nb::object {
            if (!self.is_valid()) return nb::none();
            return raw_handle("CUgraphNode", self.handle());
          },
          "The CUgraphNode; None for a node that was destroyed.")
      .def_prop_ro("is_valid", &GraphNode::is_valid, "Whether it has not been destroyed.")
      .def("destroy", &GraphNode::destroy, "Takes the node and its edges out of the graph.")
      .def_prop_rw(
          "pred", [](const GraphNode& self) { return adjacency(self, false); },
          [](const GraphNode& self, nb::handle nodes) { self.set_pred(nodes_from(nodes)); },
          "The nodes that it waits for, as a set that can be changed.")
      .def_prop_rw(
          "succ", [](const GraphNode& self) { return adjacency(self, true); },
          [](const GraphNode& self, nb::handle nodes) { self.set_succ(nodes_from(nodes)); },
          "The nodes that wait for it, as a set that can be changed.")
      .def("_adjacent",
           [](const GraphNode& self, bool behind) {
             if (!self.is_valid()) return node_objects({});
             const AdjacencySet set = behind ? self.succ() : self.pred();
             std::vector<GraphNode> nodes;
             for (const GraphNode& node : set) nodes.push_back(node);
             return node_objects(nodes);
           })
      .def("_add_adjacent", [](const GraphNode& self, bool behind,
                               nb::handle nodes) { (behind ? self.succ() : self.pred()).update(nodes_from(nodes)); })
      .def("_remove_adjacent",
           [](const GraphNode& self, bool behind, nb::handle nodes) {
             (behind ? self.succ() : self.pred()).difference_update(nodes_from(nodes));
           })
      .def(Equality<GraphNode>())
      .def("__repr__", [](const GraphNode& self) { return node_text("GraphNode", self); });
}

void bind_kernel_node(nb::module_& module) {
  nb::class_<KernelNode, GraphNode>(module, "KernelNode", "Launches a kernel.")
      .def_prop_ro(
          "grid", [](const KernelNode& self) { return tuple_of(self.grid()); }, "Blocks in x, y and z.")
      .def_prop_ro(
          "block", [](const KernelNode& self) { return tuple_of(self.block()); }, "Threads of a block in x, y and z.")
      .def_prop_ro("shmem_size", &KernelNode::shmem_size, "Bytes of dynamic shared memory per block.")
      .def_prop_ro("kernel", &KernelNode::kernel, "What it launches.")
      .def_prop_ro("config", &KernelNode::config, "The shape, as launch() takes it.")
      .def("update", &update_kernel, nb::kw_only(), "config"_a = nb::none(), "kernel"_a = nb::none(),
           "args"_a = nb::none(), "Replaces the shape, the arguments, or all of it.")
      .def("__repr__", [](const KernelNode& self) {
        return node_text_with("KernelNode", self, [&] { return "kernel=" + address_text(self.kernel().handle()); });
      });
}

void bind_memory_nodes(nb::module_& module) {
  nb::class_<AllocNode, GraphNode>(module, "AllocNode", "Allocates memory.")
      .def_prop_ro("dptr", &AllocNode::dptr, "The address, which is the same at each launch.")
      .def_prop_ro("bytesize", &AllocNode::bytesize, "The size, in bytes.")
      .def_prop_ro("device_id", &AllocNode::device_id, "The device that the memory is on.")
      .def_prop_ro("memory_type", &memory_type_of, "Where the memory is.")
      .def_prop_ro(
          "peer_access",
          [](const AllocNode& self) {
            nb::list devices;
            for (const Device& device : self.peer_access()) devices.append(device.device_id());
            return nb::tuple(devices);
          },
          "The numbers of the other devices that may use it.")
      .def("__repr__", [](const AllocNode& self) {
        return node_text_with("AllocNode", self, [&] {
          return "dptr=" + hexadecimal(self.dptr()) + " size=" + std::to_string(self.bytesize());
        });
      });
  nb::class_<FreeNode, GraphNode>(module, "FreeNode", "Frees memory that an allocation node made.")
      .def_prop_ro("dptr", &FreeNode::dptr, "The address that it frees.")
      .def("__repr__", [](const FreeNode& self) {
        return node_text_with("FreeNode", self, [&] { return "dptr=" + hexadecimal(self.dptr()); });
      });
  nb::class_<MemsetNode, GraphNode>(module, "MemsetNode", "Sets memory.")
      .def_prop_ro("dptr", &MemsetNode::dptr, "Where the first row begins.")
      .def_prop_ro("value", &MemsetNode::value, "The bits that are repeated, in the lowest bytes.")
      .def_prop_ro("element_size", &MemsetNode::element_size, "Bytes of the value: 1, 2 or 4.")
      .def_prop_ro("width", &MemsetNode::width, "Elements of a row.")
      .def_prop_ro("height", &MemsetNode::height, "Rows.")
      .def_prop_ro("pitch", &MemsetNode::pitch, "Bytes from one row to the next.")
      .def("update", &update_memset, nb::kw_only(), "dst"_a = nb::none(), "value"_a = nb::none(),
           "width"_a = nb::none(), "height"_a = nb::none(), "pitch"_a = nb::none(), "dst_owner"_a = nb::none(),
           "Replaces what is given.")
      .def("__repr__", [](const MemsetNode& self) {
        return node_text_with("MemsetNode", self, [&] {
          return "dptr=" + hexadecimal(self.dptr()) + " value=" + std::to_string(self.value());
        });
      });
  nb::class_<MemcpyNode, GraphNode>(module, "MemcpyNode", "Copies memory.")
      .def_prop_ro("dst", &MemcpyNode::dst, "Where it writes.")
      .def_prop_ro("src", &MemcpyNode::src, "Where it reads.")
      .def_prop_ro("size", &MemcpyNode::size, "Bytes that are copied.")
      .def("update", &update_memcpy, nb::kw_only(), "dst"_a = nb::none(), "src"_a = nb::none(), "size"_a = nb::none(),
           "dst_owner"_a = nb::none(), "src_owner"_a = nb::none(), "Replaces what is given.")
      .def("__repr__", [](const MemcpyNode& self) {
        return node_text_with("MemcpyNode", self, [&] {
          return "dst=" + hexadecimal(self.dst()) + memory_letter(self.dst()) + " src=" + hexadecimal(self.src()) +
                 memory_letter(self.src()) + " size=" + std::to_string(self.size());
        });
      });
}

void bind_other_nodes(nb::module_& module) {
  nb::class_<EmptyNode, GraphNode>(module, "EmptyNode",
                                   "Does nothing; nodes wait for it, and it for others.\n\n"
                                   ">>> from cuprum.graph import GraphDefinition\n"
                                   ">>> graph = GraphDefinition()\n"
                                   ">>> graph.join(graph.empty(), graph.empty()).is_valid\n"
                                   "True\n")
      .def("__repr__", [](const EmptyNode& self) { return node_text("EmptyNode", self); });
  nb::class_<ChildGraphNode, GraphNode>(module, "ChildGraphNode", "Runs a graph of its own.")
      .def_prop_ro("child_graph", &ChildGraphNode::child_graph, "A view of the graph in the node.")
      .def(
          "update", [](const ChildGraphNode& self, const GraphDefinition& child) { self.update(child); }, "child"_a,
          "Puts a copy of another graph in place of it.")
      .def("__repr__", [](const ChildGraphNode& self) {
        return node_text_with("ChildGraphNode", self,
                              [&] { return "child=" + address_text(self.child_graph().handle()); });
      });
  nb::class_<EventRecordNode, GraphNode>(module, "EventRecordNode", "Records an event.")
      .def_prop_ro("event", &EventRecordNode::event, "The one that it records.")
      .def(
          "update", [](const EventRecordNode& self, nb::handle event) { self.update(event_from(event)); },
          "event"_a.none(), "Records another one.")
      .def("__repr__", [](const EventRecordNode& self) {
        return node_text_with("EventRecordNode", self, [&] { return "event=" + address_text(self.event().handle()); });
      });
  nb::class_<EventWaitNode, GraphNode>(module, "EventWaitNode", "Waits for an event.")
      .def_prop_ro("event", &EventWaitNode::event, "The one that it waits for.")
      .def(
          "update", [](const EventWaitNode& self, nb::handle event) { self.update(event_from(event)); },
          "event"_a.none(), "Waits for another one.")
      .def("__repr__", [](const EventWaitNode& self) {
        return node_text_with("EventWaitNode", self, [&] { return "event=" + address_text(self.event().handle()); });
      });
  nb::class_<HostCallbackNode, GraphNode>(module, "HostCallbackNode",
                                          "Calls a function of the host.\n\n"
                                          ">>> from cuprum.graph import GraphDefinition\n"
                                          ">>> graph = GraphDefinition()\n"
                                          ">>> node = graph.callback(lambda: None)\n"
                                          ">>> callable(node.callback)\n"
                                          "True\n")
      .def_prop_ro(
          "callback", [](const HostCallbackNode& self) { return python_callable(self.callback()); },
          "The Python function; None for one of ctypes.")
      .def(
          "update",
          [](const HostCallbackNode& self, nb::handle function, nb::handle user_data) {
            with_host_function(function, user_data,
                               [&]<typename... Host>(Host&&... host) { self.update(std::forward<Host>(host)...); });
          },
          "fn"_a.none(), nb::kw_only(), "user_data"_a = nb::none(), "Calls another one.")
      .def("__repr__", [](const HostCallbackNode& self) {
        return node_text_with("HostCallbackNode", self, [&] {
          const nb::object function = python_callable(self.callback());
          return "callback=" + (function.is_none() ? std::string("native")
                                                   : nb::cast<std::string>(nb::str(nb::object(
                                                         nb::getattr(function, "__name__", nb::str("object"))))));
        });
      });
}

void bind_conditional_nodes(nb::module_& module) {
  nb::class_<ConditionalNode, GraphNode>(module, "ConditionalNode", "Decides by a condition what runs.")
      .def_prop_ro("condition", &ConditionalNode::condition, "What it looks at; None when nothing is known.")
      .def_prop_ro("cond_type", &conditional_type_of, "How it decides; None when nothing is known.")
      .def_prop_ro(
          "branches",
          [](const ConditionalNode& self) {
            nb::list branches;
            for (const GraphDefinition& branch : self.branches()) branches.append(nb::cast(branch));
            return nb::tuple(branches);
          },
          "Views of the graphs that it chooses from.")
      .def("__repr__", [](const ConditionalNode& self) { return node_text("ConditionalNode", self); });
  nb::class_<IfNode, ConditionalNode>(module, "IfNode",
                                      "Runs its graph when the condition is not 0.\n\n"
                                      ">>> from cuprum.graph import GraphDefinition\n"
                                      ">>> graph = GraphDefinition()\n"
                                      ">>> node = graph.if_then(graph.create_condition(default_value=1))\n"
                                      ">>> inner = node.then.callback(print)\n"
                                      ">>> node.then.nodes() == {inner}\n"
                                      "True\n")
      .def_prop_ro("then", &IfNode::then, "The graph that runs then.")
      .def("__repr__", [](const IfNode& self) { return condition_text("IfNode", self); });
  nb::class_<IfElseNode, ConditionalNode>(module, "IfElseNode", "Runs one of two graphs.")
      .def_prop_ro("then", &IfElseNode::then, "The graph that runs when the condition is not 0.")
      .def_prop_ro("else_", &IfElseNode::else_, "The graph that runs when it is 0.")
      .def("__repr__", [](const IfElseNode& self) { return condition_text("IfElseNode", self); });
  nb::class_<WhileNode, ConditionalNode>(module, "WhileNode", "Runs its graph as long as the condition is not 0.")
      .def_prop_ro("body", &WhileNode::body, "The graph that is repeated.")
      .def("__repr__", [](const WhileNode& self) { return condition_text("WhileNode", self); });
  nb::class_<SwitchNode, ConditionalNode>(module, "SwitchNode",
                                          "Runs that one of its branches whose number the condition is, or none.")
      .def("__repr__", [](const SwitchNode& self) { return condition_text("SwitchNode", self); });
}

template <typename... Kinds>
nb::object as_one_of(const GraphNode& node) {
  nb::object object;
  (try_kind<Kinds>(node, object) || ...);
  return object.is_valid() ? object : nb::cast(node);
}

nb::object new_node_object(const GraphNode& node) {
  return as_one_of<KernelNode, MemcpyNode, MemsetNode, EmptyNode, AllocNode, FreeNode, HostCallbackNode, ChildGraphNode,
                   EventRecordNode, EventWaitNode, IfElseNode, IfNode, WhileNode, SwitchNode, ConditionalNode>(node);
}

}  // namespace

nb::object node_object(const GraphNode& node) {
  // As long as somebody has the object of a node, it is the node's only one. The hash says where the node's record is,
  // which the object keeps.
  static constinit MadeOnce nodes;
  const nb::handle known =
      nodes.get([] { return nb::object(nb::module_::import_("weakref").attr("WeakValueDictionary")()); });
  const nb::int_ key(std::hash<GraphNode>{}(node));
  nb::object object = known.attr("get")(key);
  if (!object.is_none() && !(nb::cast<const GraphNode&>(object) == node)) {
    known.attr("pop")(key, nb::none());
    object = nb::none();
  }
  if (object.is_none()) object = known.attr("setdefault")(key, new_node_object(node));
  return object;
}

nb::list node_objects(const std::vector<GraphNode>& nodes) {
  nb::list objects;
  for (const GraphNode& node : nodes) objects.append(node_object(node));
  return objects;
}

void bind_graph_nodes(nb::module_& module) {
  bind_node(module);
  bind_kernel_node(module);
  bind_memory_nodes(module);
  bind_other_nodes(module);
  bind_conditional_nodes(module);
}

}  // namespace cuprum::python
