// What nodes of graphs are given, out of Python objects.
#include <cstring>

#include "bindings/buffer.hpp"
#include "bindings/graph.hpp"
#include "bindings/python_entry.hpp"

namespace cuprum::python {
namespace {

template <typename Class>
const Class& checked(nb::handle object, const char* what) {
  if (!nb::isinstance<Class>(object)) throw nb::type_error((std::string(what) + ", got " + type_of(object)).c_str());
  return *nb::inst_ptr<Class>(object);
}

/// Keeps Python from collecting garbage by itself: where a function must not use CUDA, streams and buffers among the
/// garbage could not be released. Several may do so at the same time.
class NoCollection {
 public:
  NoCollection() {
    nb::ft_lock_guard lock(mutex);
    if (count++ == 0) was_enabled = PyGC_Disable() != 0;
  }
  ~NoCollection() {
    nb::ft_lock_guard lock(mutex);
    if (--count == 0 && was_enabled) PyGC_Enable();
  }
  NoCollection(const NoCollection&) = delete;
  NoCollection& operator=(const NoCollection&) = delete;

 private:
  static inline nb::ft_mutex mutex;  // the GIL does the same where there is one
  static inline int count = 0;
  static inline bool was_enabled = false;
};

/// Calls a Python function on a thread of the driver. What it raises can't reach anybody, so Python reports it.
struct PythonFunction {
  std::shared_ptr<void> function;

  void operator()() const {
    const PythonEntry python;
    if (!python) return;
    const NoCollection no_collection;
    PyObject* const callable = static_cast<PyObject*>(function.get());
    PyObject* const result = PyObject_CallNoArgs(callable);
    if (!result) PyErr_WriteUnraisable(callable);
    Py_XDECREF(result);
  }
};

}  // namespace

const graph::GraphNode& node_from(nb::handle object) { return checked<graph::GraphNode>(object, "expected GraphNode"); }

const graph::GraphCondition& condition_from(nb::handle object) {
  return checked<graph::GraphCondition>(
      object, "condition must be a GraphCondition object (from create_condition() of a graph or a builder)");
}

const LaunchConfig& config_from(nb::handle object) {
  return checked<LaunchConfig>(object, "config must be a LaunchConfig");
}

const Kernel& kernel_from(nb::handle object) { return checked<Kernel>(object, "kernel must be a Kernel"); }

const Event& event_from(nb::handle object) { return checked<Event>(object, "event must be an Event"); }

namespace {

graph::Operand buffer_operand(nb::handle object, const char* side) {
  const Buffer& buffer = nb::cast<const Buffer&>(object);
  if (buffer.handle() == 0) {
    const std::string message = std::string(side) + " Buffer has no active allocation";
    throw nb::value_error(message.c_str());
  }
  return graph::Operand(buffer);
}

/// What keeps an address valid: of a buffer its memory, also when that is closed; of all else the object.
std::shared_ptr<const void> kept_owner(nb::handle owner, const char* side) {
  if (owner.is_none()) return nullptr;
  if (nb::isinstance<Buffer>(owner)) return std::make_shared<const graph::Operand>(buffer_operand(owner, side));
  return kept_object(owner);
}

}  // namespace

graph::Operand operand_from(nb::handle object, nb::handle owner, const char* side) {
  if (nb::isinstance<Buffer>(object)) {
    if (!owner.is_none()) {
      const std::string message = std::string(side) + "_owner cannot be used when " + side + " is a Buffer";
      throw nb::value_error(message.c_str());
    }
    return buffer_operand(object, side);
  }
  const std::string what = std::string(side) + ", if it is no Buffer,";
  return graph::Operand(DevicePointer{raw_value(object, what.c_str())},
                        kept_owner(owner, (std::string(side) + "_owner").c_str()));
}

std::vector<std::byte> fill_value(nb::handle object) {
  const FillPattern pattern = fill_pattern_from(object);
  return {pattern.bytes, pattern.bytes + pattern.size};
}

graph::GraphCompleteOptions complete_options_from(nb::handle given) {
  if (given.is_none()) return {};
  const nb::object options = options_object("GraphCompleteOptions", given, "Graph completion options");
  graph::GraphCompleteOptions wanted{.auto_free_on_launch = flag(options, "auto_free_on_launch"),
                                     .device_launch = flag(options, "device_launch"),
                                     .use_node_priority = flag(options, "use_node_priority")};
  const nb::object stream = options.attr("upload_stream");
  if (!stream.is_none()) wanted.upload_stream = stream_from(stream);
  return wanted;
}

graph::GraphDebugPrintOptions debug_print_options_from(nb::handle given) {
  if (given.is_none()) return {};
  const nb::object wanted_class = nb::module_::import_("cuprum._options").attr("GraphDebugPrintOptions");
  if (!nb::isinstance<nb::dict>(given) && PyObject_IsInstance(given.ptr(), wanted_class.ptr()) != 1) {
    throw nb::type_error(
        ("options must be a GraphDebugPrintOptions, a dict with its options, or None, not " + type_of(given)).c_str());
  }
  const nb::object options = options_object("GraphDebugPrintOptions", given, "Graph print options");
  graph::GraphDebugPrintOptions wanted;
  const auto read = [&](bool& field, const char* name) { field = flag(options, name); };
  read(wanted.verbose, "verbose");
  read(wanted.runtime_types, "runtime_types");
  read(wanted.kernel_node_params, "kernel_node_params");
  read(wanted.memcpy_node_params, "memcpy_node_params");
  read(wanted.memset_node_params, "memset_node_params");
  read(wanted.host_node_params, "host_node_params");
  read(wanted.event_node_params, "event_node_params");
  read(wanted.ext_semas_signal_node_params, "ext_semas_signal_node_params");
  read(wanted.ext_semas_wait_node_params, "ext_semas_wait_node_params");
  read(wanted.kernel_node_attributes, "kernel_node_attributes");
  read(wanted.handles, "handles");
  read(wanted.mem_alloc_node_params, "mem_alloc_node_params");
  read(wanted.mem_free_node_params, "mem_free_node_params");
  read(wanted.batch_mem_op_node_params, "batch_mem_op_node_params");
  read(wanted.extra_topo_info, "extra_topo_info");
  read(wanted.conditional_node_params, "conditional_node_params");
  return wanted;
}

HostFunction host_function_from(nb::handle function, nb::handle user_data) {
  const nb::object native = nb::module_::import_("cuprum._callbacks").attr("native_callback")(function, user_data);
  if (native.is_none()) return {.callable = PythonFunction{kept_object(function)}};
  const auto address = nb::cast<std::uintptr_t>(native[0]);
  const nb::object data = native[1];  // an address, or bytes to be copied
  HostFunction host{.address = reinterpret_cast<void (*)(void*)>(address)};
  if (nb::isinstance<nb::bytes>(data)) {
    struct Owners {
      std::shared_ptr<void> function;
      std::vector<char> data;
    };
    const nb::bytes bytes = nb::cast<nb::bytes>(data);
    auto owners =
        std::make_shared<Owners>(Owners{kept_object(function), {bytes.c_str(), bytes.c_str() + bytes.size()}});
    host.user_data = owners->data.empty() ? nullptr : owners->data.data();
    host.owner = std::move(owners);
  } else {
    host.user_data = reinterpret_cast<void*>(raw_value(data, "user_data"));
    host.owner = kept_object(function);
  }
  return host;
}

nb::object python_callable(const std::function<void()>& function) {
  const auto* ours = function.target<PythonFunction>();
  return ours ? nb::borrow(static_cast<PyObject*>(ours->function.get())) : nb::none();
}

}  // namespace cuprum::python
