// Streams: see <cuprum/stream.hpp>.
#include <cuprum/detail/record.hpp>
#include <cuprum/driver.hpp>

#include "bindings/attributes.hpp"
#include "bindings/event.hpp"

namespace cuprum::python {
namespace {

/// What __cuda_stream__ of an object says: (0, address).
std::uint64_t protocol_stream(nb::handle object) {
  nb::object method = attribute_or_none(object, "__cuda_stream__");
  if (method.is_none() || PyType_Check(object.ptr())) {  // the method of a class has no object to be asked of
    throw nb::type_error(
        ("stream must be a Stream, a GraphBuilder or an object with __cuda_stream__, not " + type_of(object)).c_str());
  }
  const bool is_method = PyCallable_Check(method.ptr());
  // Some libraries have it as a property.
  if (!is_method && PyErr_WarnEx(PyExc_DeprecationWarning, "__cuda_stream__ must be implemented as a method", 1) < 0)
    throw nb::python_error();
  nb::object said = is_method ? method() : method;
  if (!nb::isinstance<nb::sequence>(said) || nb::len(said) != 2)
    throw std::runtime_error("__cuda_stream__ must return a sequence with 2 elements: (version, address)");
  const int version = value_from<int>(nb::object(said[0]), "the version that __cuda_stream__ gives");
  if (version != 0)
    throw std::runtime_error(
        "the first element of the sequence that __cuda_stream__ returns, its version, must be 0, not " +
        std::to_string(version));
  return raw_value(nb::object(said[1]), "the address that __cuda_stream__ gives");
}

Stream foreign_stream(nb::handle object) {
  return Stream::from_handle(reinterpret_cast<CUstream_st*>(protocol_stream(object)), kept_object(object));
}

/// Throws for a stream that is closed: to others, 0 is the legacy default stream.
CUstream_st* open_handle(const Stream& stream) {
  CUstream_st* const handle = stream.handle();
  if (!handle) (void)stream.context();  // which throws
  return handle;
}

void wait(const Stream& self, nb::handle other) {
  if (nb::isinstance<Event>(other)) {
    const Event event = nb::cast<Event>(other);
    return without_gil([&] { self.wait(event); });
  }
  const auto message = [&] {
    return "only an Event, Stream, or object supporting __cuda_stream__ can be waited, got " + type_of(other);
  };
  Stream stream;
  try {
    stream = nb::isinstance<Stream>(other) ? nb::cast<Stream>(other) : foreign_stream(other);
  } catch (nb::python_error& error) {
    nb::raise_from(error, PyExc_ValueError, "%s", message().c_str());  // with what __cuda_stream__ raised as its cause
  } catch (const std::exception&) {
    throw nb::value_error(message().c_str());
  }
  without_gil([&] { self.wait(stream); });
}

/// One of the two objects that the package has of the default streams, so that `is` tells them apart.
nb::object default_stream_object() {
  const bool is_per_thread = default_stream() == Stream::per_thread_default();
  return nb::module_::import_("cuprum").attr(is_per_thread ? "PER_THREAD_DEFAULT_STREAM" : "LEGACY_DEFAULT_STREAM");
}

nb::object record(const Stream& self, nb::handle event, nb::handle options) {
  if (!event.is_none()) {
    const Event* exact = exactly<Event>(event);
    if (!exact && !nb::isinstance<Event>(event))
      throw nb::type_error(("event must be an Event, not " + type_of(event)).c_str());
    const Event& given = exact ? *exact : *nb::inst_ptr<Event>(event);
    if (!without_gil([&] { return detail::record_unless_shared(self, given); })) {
      throw nb::type_error(
          "IPC-enabled events should not be re-recorded, instead create a new event by supplying options.");
    }
    return nb::borrow(event);
  }
  const EventOptions wanted = event_options_from(options);
  return nb::cast(without_gil([&] { return self.record(wanted); }));
}

}  // namespace

StreamOptions stream_options_from(nb::handle given) {
  if (given.is_none()) return {};
  const nb::object options = options_object("StreamOptions", given, "Stream options");
  return {.nonblocking = flag(options, "nonblocking"), .priority = field<std::optional<int>>(options, "priority")};
}

Stream own_stream_from(nb::handle object) {
  if (const Stream* stream = exactly<Stream>(object)) return *stream;
  if (nb::isinstance<Stream>(object)) return nb::cast<Stream>(object);
  if (nb::isinstance<graph::GraphBuilder>(object)) return nb::cast<const graph::GraphBuilder&>(object).stream();
  if (object.is_none())
    throw nb::type_error(
        "stream is required and must not be None: pass device.default_stream explicitly to use the default stream");
  throw nb::type_error(("Stream or GraphBuilder expected as the stream, not " + type_of(object)).c_str());
}

void require_context(const Stream& stream) {
  if (stream != Stream::legacy_default() && stream != Stream::per_thread_default()) return;
  CUctx_st* current = nullptr;
  without_gil([&] { driver::call<&driver::Api::cuCtxGetCurrent>(&current); });
  if (current) return;
  throw std::runtime_error(
      "the default stream can't give memory back where no CUDA context is current: call Device.set_current() first, or "
      "pass a stream of a device");
}

Stream stream_from(nb::handle object) {
  if (const Stream* stream = exactly<Stream>(object)) return *stream;
  if (nb::isinstance<Stream>(object) || nb::isinstance<graph::GraphBuilder>(object)) return own_stream_from(object);
  return foreign_stream(object);
}

void bind_stream(nb::module_& module) {
  nb::class_<Stream> bound(module, "Stream", nb::is_weak_referenceable(),
                           "An ordered queue of work for a device. Made by Device.create_stream.\n\n"
                           ">>> from cuprum import Device\n"
                           ">>> device = Device(); device.set_current()\n"
                           ">>> stream = device.create_stream()\n"
                           ">>> stream.wait(stream.record())\n"
                           ">>> stream.sync()\n");
  forbid_construction(bound,
                      "Stream objects cannot be instantiated directly. Please use Device APIs (create_stream) or other "
                      "Stream APIs (from_handle).");
  bound.def("close", &Stream::close, WithoutGil(), "Ends the stream. Work that was queued still runs.")
      .def("__cuda_stream__",
           [](const Stream& self) { return nb::make_tuple(0, reinterpret_cast<std::uint64_t>(open_handle(self))); })
      .def("sync", &Stream::sync, WithoutGil(), "Waits until all work queued so far is done.")
      .def("record", &record, "event"_a = nb::none(), "options"_a = nb::none(),
           "Puts an event, a new one unless one is given, after all work queued so far, and returns it.")
      .def("wait", &wait, "event_or_stream"_a,
           "Makes work queued from now on wait for an event, or for what is queued on another stream now.")
      .def_static(
          "from_handle",
          [](nb::handle handle) {
            return Stream::from_handle(reinterpret_cast<CUstream_st*>(raw_value(handle, "handle")));
          },
          "handle"_a, "Wraps a CUstream that somebody else owns and keeps alive.")
      .def("create_graph_builder", &Stream::create_graph_builder, "A builder that captures what is queued on it.")
      .def_static("legacy_default", &Stream::legacy_default, "CUDA's legacy default stream.")
      .def_static("per_thread_default", &Stream::per_thread_default, "CUDA's default stream of the calling thread.")
      .def_prop_ro(
          "handle", [](const Stream& self) { return raw_handle("CUstream", self.handle()); }, "The CUstream.")
      .def_prop_ro("is_nonblocking", &Stream::is_nonblocking, WithoutGil(),
                   "Whether it does not synchronise with the legacy default stream.")
      .def_prop_ro("priority", &Stream::priority, WithoutGil(), "Lower numbers come first.")
      .def_prop_ro(
          "device", [](const Stream& self) { return device_object(self.device()); }, "Its device.")
      .def_prop_ro("context", &Stream::context, "The context it belongs to.")
      .def_prop_ro("resources", &Stream::resources, "What its context was given of the device.")
      .def(Equality<Stream>())
      .def("__repr__", [](const Stream& self) {
        const std::uint64_t context = self.handle() ? reinterpret_cast<std::uint64_t>(self.context().handle()) : 0;
        return "<Stream handle=" + hexadecimal(reinterpret_cast<std::uint64_t>(self.handle())) +
               " context=" + hexadecimal(context) + ">";
      });
  module.def(
      "default_stream", &default_stream_object, nb::sig("def default_stream() -> Stream"),
      "The default stream: the legacy one, or that of the thread when CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM "
      "is set to a number other than 0.\n\n"
      ">>> from cuprum import Device, default_stream\n"
      ">>> Device().set_current()\n"
      ">>> default_stream() == Device().default_stream\n"
      "True\n");
  module.def(
      "_stream_as",
      [](const nb::type_object_t<Stream>& type, const Stream& stream) {
        nb::object object = nb::inst_alloc(type);
        new (nb::inst_ptr<Stream>(object)) Stream(stream);
        nb::inst_mark_ready(object);
        return object;
      },
      "type"_a, "stream"_a, "The stream as an object of a class that derives from Stream.");
  module.def(
      "Stream_accept",
      [](nb::handle object, bool allow_stream_protocol) {
        return allow_stream_protocol ? stream_from(object) : own_stream_from(object);
      },
      "arg"_a.none(), "allow_stream_protocol"_a = false,
      "The stream that an argument stands for: a Stream, a GraphBuilder, or, if allowed, an object with "
      "__cuda_stream__.");
}

}  // namespace cuprum::python
