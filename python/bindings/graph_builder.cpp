// Graphs that are captured from streams: see <cuprum/graph/builder.hpp>.
#include "bindings/graph.hpp"
#include "bindings/memory_resource.hpp"
#include "bindings/object_code.hpp"

/// Destroys what was deferred, too.
template <>
void nanobind::detail::wrap_destruct<cuprum::graph::GraphBuilder>(void* object) noexcept {
  cuprum::python::destroy_without_gil<cuprum::graph::GraphBuilder>(object);
}

namespace cuprum::python {
namespace {

using graph::CaptureMode;
using graph::GraphBuilder;

/// Builders are returned as the objects that they are, not as copies: `builder.begin_building() is builder`.
nb::object begin_building(Self<GraphBuilder> self, std::optional<std::string> given) {
  const std::string mode = given.value_or("None");
  CaptureMode wanted = CaptureMode::relaxed;
  if (mode == "global") {
    wanted = CaptureMode::global;
  } else if (mode == "thread_local") {
    wanted = CaptureMode::thread_local_;
  } else if (mode != "relaxed") {
    const std::string message = "Unsupported build mode: " + mode + "; it can be 'global', 'thread_local' or 'relaxed'";
    throw nb::value_error(message.c_str());
  }
  without_gil([&] { self->begin_building(wanted); });
  return nb::borrow(self);
}

nb::tuple tuple_of(const std::vector<GraphBuilder>& builders) {
  nb::list objects;
  for (const GraphBuilder& builder : builders) objects.append(nb::cast(builder));
  return nb::tuple(objects);
}

nb::object end_building(Self<GraphBuilder> self) {
  without_gil([&] { self->end_building(); });
  return nb::borrow(self);
}

nb::tuple split(Self<GraphBuilder> self, int count) {
  if (count < 2) {
    const std::string message = "Invalid split count: expecting >= 2, got " + std::to_string(count);
    throw nb::value_error(message.c_str());
  }
  const std::vector<GraphBuilder> builders = self->split(static_cast<std::size_t>(count));
  nb::list objects;
  for (const GraphBuilder& builder : builders) objects.append(objects.empty() ? nb::borrow(self) : nb::cast(builder));
  return nb::tuple(objects);
}

nb::object join(nb::args given) {
  std::vector<GraphBuilder> builders;
  for (const nb::handle builder : given) {
    if (!nb::isinstance<GraphBuilder>(builder)) throw nb::type_error("All arguments must be GraphBuilder instances");
    builders.push_back(nb::cast<const GraphBuilder&>(builder));
  }
  if (builders.size() < 2) throw nb::value_error("Must join with at least two graph builders");
  const GraphBuilder joined = GraphBuilder::join(builders);
  const auto found = std::find(builders.begin(), builders.end(), joined);
  return nb::borrow(given[static_cast<std::size_t>(found - builders.begin())]);
}

bool has_graph(const GraphBuilder& builder) {
  try {
    (void)builder.graph_definition();
    return true;
  } catch (const WrongState&) {
    return false;
  }
}

/// An unfinished child is a ValueError there, as cuda.core has it.
void embed_builder(const GraphBuilder& self, const GraphBuilder& child) {
  try {
    self.embed(child);
  } catch (const WrongState& error) {
    if (has_graph(child)) throw;
    throw nb::value_error(error.what());
  }
}

void embed(const GraphBuilder& self, nb::handle child) {
  if (nb::isinstance<GraphBuilder>(child)) return embed_builder(self, nb::cast<const GraphBuilder&>(child));
  if (!nb::isinstance<graph::GraphDefinition>(child)) {
    throw nb::type_error(("child must be a GraphBuilder or a GraphDefinition, not " + type_of(child)).c_str());
  }
  self.embed(nb::cast<const graph::GraphDefinition&>(child));
}

}  // namespace

void bind_graph_builder(nb::module_& module) {
  nb::class_<GraphBuilder> bound(module, "GraphBuilder", nb::is_weak_referenceable(),
                                 "Captures what is queued on a stream as a graph. Wherever a stream is expected, a "
                                 "builder can be passed.\n\n"
                                 ">>> from cuprum import Device\n"
                                 ">>> device = Device(); device.set_current()\n"
                                 ">>> builder = device.create_graph_builder().begin_building()\n"
                                 ">>> builder.callback(lambda: None)\n"
                                 ">>> graph = builder.end_building().complete()\n"
                                 ">>> stream = device.create_stream()\n"
                                 ">>> graph.launch(stream); stream.sync()\n");
  bound.def("__init__", [](nb::handle, nb::args, nb::kwargs) {
    PyErr_SetString(PyExc_NotImplementedError,
                    "directly creating a GraphBuilder is not supported: use Device.create_graph_builder() or "
                    "Stream.create_graph_builder()");
    throw nb::python_error();
  });
  bound.def_prop_ro("stream", &GraphBuilder::stream, nb::rv_policy::copy, "What is captured.")
      .def_prop_ro("is_building", &GraphBuilder::is_building, "Whether its stream is being captured.")
      .def_prop_ro("is_join_required", &GraphBuilder::is_join_required, "Whether it came from split().")
      .def_prop_ro(
          "graph_definition",
          [](const GraphBuilder& self) { return with_runtime_errors([&] { return self.graph_definition(); }); },
          "What was captured, as a graph that can be looked at and changed.")
      .def("begin_building", &begin_building, "mode"_a = "relaxed", "Begins the capture, and returns the builder.")
      .def("end_building", &end_building, "Ends the capture, and returns the builder.")
      .def(
          "complete",
          [](const GraphBuilder& self, nb::handle options) {
            const graph::GraphCompleteOptions wanted = complete_options_from(options);
            return with_runtime_errors([&] { return without_gil([&] { return self.complete(wanted); }); });
          },
          "options"_a = nb::none(), "What was captured, ready to be launched.")
      .def(
          "debug_dot_print",
          [](const GraphBuilder& self, nb::handle path, nb::handle options) {
            self.debug_dot_print(path_from(path), debug_print_options_from(options));
          },
          "path"_a, "options"_a = nb::none(), "Has the driver write the graph in the language of Graphviz.")
      .def("split", &split, "count"_a, "Builders, of which this is the first, whose work runs at the same time.")
      .def_static("join", &join, "The builder whose further work comes after that of all; the others are closed.")
      .def("__cuda_stream__",
           [](const GraphBuilder& self) {
             return nb::make_tuple(0, reinterpret_cast<std::uint64_t>(self.stream().handle()));
           })
      .def(
          "create_condition",
          [](const GraphBuilder& self, std::optional<unsigned> value) { return self.create_condition(value); },
          "default_value"_a = nb::none(), "A number for conditional nodes.")
      .def(
          "if_then",
          [](const GraphBuilder& self, nb::handle condition) { return self.if_then(condition_from(condition)); },
          "condition"_a.none(), "A builder of what runs when the condition is not 0.")
      .def(
          "if_else",
          [](const GraphBuilder& self, nb::handle condition) {
            auto [then, otherwise] = self.if_else(condition_from(condition));
            return nb::make_tuple(then, otherwise);
          },
          "condition"_a.none(), "Builders of what runs when the condition is not 0, and when it is.")
      .def(
          "switch",
          [](const GraphBuilder& self, nb::handle condition, unsigned count) {
            return tuple_of(self.switch_(condition_from(condition), count));
          },
          "condition"_a.none(), "count"_a, "Builders, of which that one runs whose number the condition is.")
      .def(
          "while_loop",
          [](const GraphBuilder& self, nb::handle condition) { return self.while_loop(condition_from(condition)); },
          "condition"_a.none(), "A builder of what runs as long as the condition is not 0.")
      .def("embed", &embed, "child"_a.none(),
           "A copy of what another builder has captured, or of a graph, as one node.")
      .def(
          "callback",
          [](const GraphBuilder& self, nb::handle function, nb::handle user_data) {
            with_host_function(function, user_data,
                               [&]<typename... Host>(Host&&... host) { self.callback(std::forward<Host>(host)...); });
          },
          "fn"_a.none(), nb::kw_only(), "user_data"_a = nb::none(),
          "Calls a Python function, or one of ctypes, which must not use CUDA, when the graph gets here.")
      .def("close", &GraphBuilder::close, WithoutGil(), "Ends a capture without a result. The stream stays.")
      .def("_repr_svg_",
           [](Self<GraphBuilder> self) {
             return nb::module_::import_("cuprum.graph").attr("_picture_of_builder")(self.object());
           })
      .def("__repr__", [](const GraphBuilder& self) {
        std::ostringstream text;
        text << self;
        return "<" + text.str() + ">";
      });
}

}  // namespace cuprum::python
