// What the binding files of graphs share.
#pragma once

#include "bindings/common.hpp"
#include "bindings/kernel_arguments.hpp"

namespace cuprum::python {

void bind_graph_builder(nb::module_& module);
void bind_graph_condition(nb::module_& module);
void bind_graph_definition(nb::module_& module);
void bind_graph_nodes(nb::module_& module);
void bind_executable_graph(nb::module_& module);

/// A node as an object of its kind.
nb::object node_object(const graph::GraphNode& node);
/// Nodes as a list of them.
nb::list node_objects(const std::vector<graph::GraphNode>& nodes);

/// A GraphNode that a caller gave.
const graph::GraphNode& node_from(nb::handle object);
/// A GraphCondition that a caller gave.
const graph::GraphCondition& condition_from(nb::handle object);
/// A LaunchConfig and a Kernel that a caller gave.
const LaunchConfig& config_from(nb::handle object);
const Kernel& kernel_from(nb::handle object);
const Event& event_from(nb::handle object);

/// A Buffer, or an address with whatever keeps it. `side` is "dst" or "src".
graph::Operand operand_from(nb::handle object, nb::handle owner, const char* side);

/// The bytes that a fill repeats, as Buffer.fill takes them.
std::vector<std::byte> fill_value(nb::handle object);

graph::GraphCompleteOptions complete_options_from(nb::handle given);
graph::GraphDebugPrintOptions debug_print_options_from(nb::handle given);

/// Calls `use(KernelArguments)` with what Python objects say, the buffers among them included.
template <typename Use>
decltype(auto) with_kernel_arguments(const Kernel& kernel, nb::handle given, Use&& use) {
  const nb::tuple arguments(items_of(given, "args", "a sequence of what the kernel takes"));
  std::vector<PyObject*> objects;
  for (const nb::handle argument : arguments) objects.push_back(argument.ptr());
  const KernelArgumentList list(kernel, objects.data(), objects.size());
  const std::vector<Buffer> buffers = buffers_among(objects);
  return use(list.values(buffers));
}

/// A function of the host for a graph: a Python callable, or a function of ctypes with what it is to be given.
struct HostFunction {
  std::function<void()> callable = {};     ///< of Python; empty for one of ctypes
  void (*address)(void*) = nullptr;        ///< of ctypes
  void* user_data = nullptr;               ///< for that
  std::shared_ptr<const void> owner = {};  ///< keeps the function and the data
};
HostFunction host_function_from(nb::handle function, nb::handle user_data);

/// The Python callable that such a function calls; None for others.
nb::object python_callable(const std::function<void()>& function);

/// Calls `add(callable)` or `add(address, user_data, owner)` with a function of the host.
template <typename Add>
decltype(auto) with_host_function(nb::handle function, nb::handle user_data, Add&& add) {
  HostFunction host = host_function_from(function, user_data);
  if (host.callable) return add(std::move(host.callable));
  return add(host.address, host.user_data, std::move(host.owner));
}

/// Runs `function`; a value that can't be is a RuntimeError there, as cuda.core has it.
template <typename Function>
decltype(auto) with_runtime_errors(Function&& function) {
  try {
    return std::forward<Function>(function)();
  } catch (const WrongType&) {
    throw;
  } catch (const WrongState&) {
    throw;
  } catch (const InvalidArgument& error) {
    throw WrongState(error.what());
  }
}

}  // namespace cuprum::python
