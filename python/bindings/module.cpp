// cuprum._core: libcuprum for Python. The package's Python files say under which names users find what is in here.
#include "bindings/common.hpp"
#include "bindings/graph.hpp"
#include "bindings/python_entry.hpp"

namespace {

using namespace cuprum::python;

/// Memory of processes that ended while objects were alive is the system's to give back: nanobind's report of them
/// would only confuse. Tests turn it on.
void set_leak_warnings() {
  const char* wanted = std::getenv("CUPRUM_PYTHON_LEAK_WARNINGS");
  nanobind::set_leak_warnings(wanted && *wanted);
}

}  // namespace

NB_MODULE(_core, module) {
  set_leak_warnings();
  watch_the_end_of_python();
  release_deferred_soon();
  bind_errors(module);
  bind_driver(module);
  bind_device_properties(module);
  bind_device_resources(module);
  bind_checkpoint(module);
  bind_context(module);
  bind_event(module);
  bind_stream(module);
  bind_memory_resource(module);
  bind_buffer(module);
  bind_ipc(module);
  bind_memory_pools(module);
  bind_host(module);
  bind_managed_memory(module);
  bind_legacy_pinned_memory_resource(module);
  bind_virtual_memory_resource(module);
  bind_graph_memory_resource(module);
  bind_graphics_resource(module);
  bind_memory_batches(module);
  bind_strided_layout(module);
  bind_strided_memory_view(module);
  bind_observe(module);
  bind_opaque_array(module);
  bind_mipmapped_array(module);
  bind_resource_descriptor(module);
  bind_texture_object(module);
  bind_surface_object(module);
  bind_tensor_map(module);
  bind_device(module);
  bind_launch_config(module);
  bind_launch(module);
  bind_kernel(module);
  bind_object_code(module);
  bind_graph_condition(module);
  bind_graph_definition(module);
  bind_graph_nodes(module);
  bind_executable_graph(module);
  bind_graph_builder(module);
  bind_program(module);
  bind_linker(module);
  bind_program_cache(module);
  bind_system(module);
}
