// What graph definitions and nodes have in common: adding nodes.
#pragma once

#include "bindings/graph.hpp"

namespace cuprum::python {

graph::GraphAllocOptions alloc_options_from(nb::handle device, nb::handle memory_type, nb::handle peer_access);

/// Binds the functions of graph::NodePlace.
template <typename Place, typename Bound>
void bind_place(Bound& bound) {
  bound
      .def(
          "launch",
          [](const Place& self, nb::handle config, nb::handle kernel, nb::args arguments) {
            const LaunchConfig& shape = config_from(config);
            const Kernel& wanted = kernel_from(kernel);
            return node_object(with_kernel_arguments(
                wanted, arguments, [&](const KernelArguments& values) { return self.launch(shape, wanted, values); }));
          },
          "config"_a.none(), "kernel"_a.none(), "args"_a,
          "A node that launches a kernel, with arguments as launch() takes them.")
      .def(
          "join",
          [](const Place& self, nb::args nodes) {
            std::vector<graph::GraphNode> joined;
            for (const nb::handle node : nodes) joined.push_back(node_from(node));
            return node_object(self.join(joined));
          },
          "A node that does nothing, after this place and all of the nodes.")
      .def(
          "allocate",
          [](const Place& self, std::size_t size, nb::handle device, nb::handle memory_type, nb::handle peer_access) {
            return node_object(self.allocate(size, alloc_options_from(device, memory_type, peer_access)));
          },
          "size"_a, nb::kw_only(), "device"_a = nb::none(), "memory_type"_a = nb::none(), "peer_access"_a = nb::none(),
          "A node that allocates memory; its address, dptr, is known now.")
      .def(
          "deallocate",
          [](const Place& self, nb::handle dptr) {
            if (nb::isinstance<graph::AllocNode>(dptr))
              return node_object(self.deallocate(nb::cast<const graph::AllocNode&>(dptr)));
            return node_object(self.deallocate(DevicePointer{raw_value(dptr, "dptr")}));
          },
          "dptr"_a.none(), "A node that frees memory that an allocation node made.")
      .def(
          "memset",
          [](const Place& self, nb::handle dst, nb::handle value, std::size_t width, std::size_t height,
             std::size_t pitch, nb::handle dst_owner) {
            const std::vector<std::byte> bytes = fill_value(value);
            return node_object(self.memset(operand_from(dst, dst_owner, "dst"), bytes, width, height, pitch));
          },
          "dst"_a.none(), "value"_a.none(), "width"_a, "height"_a = 1, "pitch"_a = 0, nb::kw_only(),
          "dst_owner"_a = nb::none(),
          "A node that sets `width` elements in each of `height` rows to a value of 1, 2 or 4 bytes.")
      .def(
          "memcpy",
          [](const Place& self, nb::handle dst, nb::handle src, std::size_t size, nb::handle dst_owner,
             nb::handle src_owner) {
            const graph::Operand target = operand_from(dst, dst_owner, "dst");
            return node_object(self.memcpy(target, operand_from(src, src_owner, "src"), size));
          },
          "dst"_a.none(), "src"_a.none(), "size"_a, nb::kw_only(), "dst_owner"_a = nb::none(),
          "src_owner"_a = nb::none(), "A node that copies `size` bytes.")
      .def(
          "embed",
          [](const Place& self, const graph::GraphDefinition& child) { return node_object(self.embed(child)); },
          "child"_a, "A copy of another graph as one node.")
      .def(
          "record", [](const Place& self, nb::handle event) { return node_object(self.record(event_from(event))); },
          "event"_a.none(), "A node that records an event.")
      .def(
          "wait", [](const Place& self, nb::handle event) { return node_object(self.wait(event_from(event))); },
          "event"_a.none(), "A node that waits for an event.")
      .def(
          "callback",
          [](const Place& self, nb::handle function, nb::handle user_data) {
            return with_host_function(function, user_data, [&]<typename... Host>(Host&&... host) {
              return node_object(self.callback(std::forward<Host>(host)...));
            });
          },
          "fn"_a.none(), nb::kw_only(), "user_data"_a = nb::none(),
          "A node that calls a Python function, or one of ctypes, which must not use CUDA.")
      .def(
          "if_then",
          [](const Place& self, nb::handle condition) { return node_object(self.if_then(condition_from(condition))); },
          "condition"_a.none(), "A node that runs a graph of its own when the condition is not 0.")
      .def(
          "if_else",
          [](const Place& self, nb::handle condition) { return node_object(self.if_else(condition_from(condition))); },
          "condition"_a.none(), "A node that runs one of two graphs of its own.")
      .def(
          "while_loop",
          [](const Place& self, nb::handle condition) {
            return node_object(self.while_loop(condition_from(condition)));
          },
          "condition"_a.none(), "A node that runs a graph of its own as long as the condition is not 0.")
      .def(
          "switch",
          [](const Place& self, nb::handle condition, unsigned count) {
            return node_object(self.switch_(condition_from(condition), count));
          },
          "condition"_a.none(), "count"_a, "A node that runs that one of its graphs whose number the condition is.");
}

}  // namespace cuprum::python
