// launch(stream, config, kernel, *arguments), which Python calls directly: nanobind's conversions would take longer
// than the rest of it.
#include "bindings/common.hpp"
#include "bindings/kernel_arguments.hpp"

namespace cuprum::python {
namespace {

constexpr const char* names[] = {"stream", "config", "kernel"};
constexpr std::size_t named_count = std::size(names);

/// The three that have names, wherever they were given; the other arguments follow the last of those given in order.
struct Call {
  PyObject* given[named_count] = {};
  PyObject* const* arguments = nullptr;
  std::size_t count = 0;
};

[[noreturn]] void refuse_keyword(const std::string& keyword) {
  const nb::object message =
      nb::module_::import_("cuprum._arguments")
          .attr("unknown_keyword")("launch", keyword, nb::make_tuple(names[0], names[1], names[2]));
  PyErr_SetObject(PyExc_TypeError, message.ptr());
  throw nb::python_error();
}

Call read_call(PyObject* const* all, std::size_t positional, PyObject* keywords) {
  Call call;
  const std::size_t in_order = std::min(positional, named_count);
  for (std::size_t i = 0; i < in_order; ++i) call.given[i] = all[i];
  call.arguments = all + in_order;
  call.count = positional - in_order;
  const std::size_t keyword_count = keywords ? nb::len(nb::handle(keywords)) : 0;
  for (std::size_t k = 0; k < keyword_count; ++k) {
    const std::string keyword = nb::cast<std::string>(nb::object(nb::handle(keywords)[k]));
    const auto found = std::find(std::begin(names), std::end(names), keyword);
    if (found == std::end(names)) refuse_keyword(keyword);
    PyObject*& place = call.given[found - names];
    if (place) throw nb::type_error(("launch() got multiple values for argument '" + keyword + "'").c_str());
    place = all[positional + k];
  }
  for (std::size_t i = 0; i < named_count; ++i) {
    if (!call.given[i])
      throw nb::type_error((std::string("launch() needs stream, config and kernel; missing is ") + names[i]).c_str());
  }
  return call;
}

template <typename Class>
const Class& expected(nb::handle object, const char* what) {
  if (const Class* found = exactly<Class>(object)) return *found;
  if (!nb::isinstance<Class>(object)) {
    throw nb::type_error((std::string(what) + ", not " + type_of(object)).c_str());
  }
  return *nb::inst_ptr<Class>(object);
}

/// As cuda.core does.
void warn_of_foreign_stream() {
  const char* text =
      "Passing foreign stream objects to this function via the stream protocol is deprecated. Convert the object "
      "explicitly using Stream(obj) instead.";
  if (PyErr_WarnEx(PyExc_DeprecationWarning, text, 1) != 0) throw nb::python_error();
}

void launch_call(const Call& call) {
  const LaunchConfig& config = expected<LaunchConfig>(call.given[1], "config must be a LaunchConfig");
  const Kernel& kernel = expected<Kernel>(call.given[2], "kernel must be a Kernel");
  const KernelArgumentList arguments(kernel, call.arguments, call.count);
  const nb::handle queue(call.given[0]);
  if (const Stream* stream = exactly<Stream>(queue))
    return without_gil([&] { cuprum::launch(*stream, config, kernel, arguments.values()); });
  if (nb::isinstance<graph::GraphBuilder>(queue)) {
    const graph::GraphBuilder& builder = *nb::inst_ptr<graph::GraphBuilder>(queue);
    const std::vector<Buffer> buffers = buffers_among({call.arguments, call.count});
    return without_gil([&] { cuprum::launch(builder, config, kernel, arguments.values(buffers)); });
  }
  const Stream stream = stream_from(queue);
  if (!nb::isinstance<Stream>(queue)) warn_of_foreign_stream();
  without_gil([&] { cuprum::launch(stream, config, kernel, arguments.values()); });
}

PyObject* launch_from_python(PyObject*, PyObject* const* all, Py_ssize_t count, PyObject* keywords) noexcept {
  try {
    launch_call(read_call(all, static_cast<std::size_t>(count), keywords));
    Py_RETURN_NONE;
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

PyMethodDef definition = {
    "launch", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&launch_from_python)),
    METH_FASTCALL | METH_KEYWORDS,
    "launch(stream, config, kernel, *kernel_args)\n--\n\n"
    "Queues a kernel on a stream, a GraphBuilder or an object with __cuda_stream__, and returns.\n\n"
    "An int takes the width that the kernel declares for the argument; other values have the width of their type: a "
    "Buffer and arrays of other libraries are passed as their address, scalars of NumPy, values of ctypes and "
    "structures by their bytes, a float as 8 bytes.\n\n"
    ">>> from cuprum import Device, LaunchConfig, ObjectCode, launch\n"
    ">>> device = Device(); device.set_current()\n"
    ">>> code = ObjectCode.from_ptx(b'.version 7.0 .target sm_70 .address_size 64 .visible .entry f() { ret; }')\n"
    ">>> launch(device.default_stream, LaunchConfig(grid=4, block=32), code.get_kernel('f'))\n"
    ">>> device.sync()\n"};

}  // namespace

void bind_launch(nb::module_& module) {
  module.attr("launch") = nb::steal(PyCFunction_NewEx(&definition, nullptr, nb::str("cuprum").release().ptr()));
}

}  // namespace cuprum::python
