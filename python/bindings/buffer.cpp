// Buffers: see <cuprum/buffer.hpp>.
#include "bindings/buffer.hpp"

#include <cstring>

#include "bindings/buffer_collection.hpp"
#include "bindings/copy_options.hpp"
#include "bindings/dlpack.hpp"
#include "bindings/host_bytes.hpp"
#include "bindings/ipc.hpp"
#include "bindings/memory_resource.hpp"

template <>
void nanobind::detail::wrap_destruct<cuprum::Buffer>(void* object) noexcept {
  cuprum::python::forget_in_collection(object);
  if (static_cast<cuprum::Buffer*>(object)->handle() == 0) return static_cast<cuprum::Buffer*>(object)->~Buffer();
  cuprum::python::destroy_without_gil<cuprum::Buffer>(object);
}

namespace cuprum::python {
namespace {

/// One that is open may have no address, either: it has 0 bytes.
bool is_closed(const Buffer& buffer) {
  if (buffer.handle() != 0) return false;
  try {
    buffer.size();
    return false;
  } catch (const InvalidArgument&) {
    return true;
  }
}

std::size_t size_of(const Buffer& buffer) { return buffer.handle() == 0 ? 0 : buffer.size(); }

const Buffer& buffer_of(nb::handle object, const char* what) {
  if (!nb::isinstance<Buffer>(object)) {
    throw nb::type_error((std::string(what) + " must be a Buffer, not " + type_of(object)).c_str());
  }
  return *nb::inst_ptr<Buffer>(object);
}

void close(Buffer& self, nb::handle stream) {
  if (is_closed(self)) return;
  if (stream.is_none()) return without_gil([&] { self.close(); });
  const Stream queue = own_stream_from(stream);
  require_context(queue);
  without_gil([&] { self.close(queue); });
}

void set_deallocation_stream(const Buffer& self, nb::handle stream) {
  if (is_closed(self)) throw WrongState("Cannot set the deallocation stream on a closed Buffer");
  const Stream queue = own_stream_from(stream);
  without_gil([&] { self.set_deallocation_stream(queue); });
}

void check_sizes(const Buffer& source, const Buffer& destination) {
  if (is_closed(source) || is_closed(destination) || size_of(source) == size_of(destination)) return;
  throw nb::value_error(("buffer sizes mismatch between src and dst (sizes are: src=" +
                         std::to_string(size_of(source)) + ", dst=" + std::to_string(size_of(destination)) + ")")
                            .c_str());
}

void copy(const Buffer& source, const Buffer& destination, const Stream& stream, nb::handle options,
          const char* function) {
  check_sizes(source, destination);
  const std::optional<CopyOptions> wanted = copy_options_from(options, function);
  if (!wanted) return without_gil([&] { destination.copy_from(source, stream); });
  with_copy_errors(stream, function, [&] { destination.copy_from(source, stream, *wanted); });
}

/// A buffer of the same size for what is in this one.
nb::object another_buffer(Self<Buffer> self, nb::handle stream) {
  nb::object resource = resource_of_buffer(self);
  if (resource.is_none()) {
    throw nb::value_error(
        "a destination buffer must be provided: this buffer does not have a memory_resource to allocate one from");
  }
  return resource.attr("allocate")(size_of(*self), "stream"_a = stream);
}

nb::object copy_to(Self<Buffer> self, nb::handle destination, nb::handle stream, nb::handle options) {
  const Buffer& source = *self;
  const Stream queue = own_stream_from(stream);
  nb::object target = destination.is_none() ? another_buffer(self, stream) : nb::borrow(destination);
  copy(source, buffer_of(target, "dst"), queue, options, "copy_to");
  return target;
}

/// Pageable memory has been read when the call returns, unless the copy is captured: graphs read at each launch. Page-
/// locked memory is read when the copy runs.
void copy_from_host(const HostBytes& host, const Buffer& destination, const Stream& stream) {
  const auto address = reinterpret_cast<DevicePointer>(host.bytes().data());
  const Buffer source = Buffer::from_handle(address, host.bytes().size(), host.owner());
  destination.copy_from(source, stream);
  if (source.is_device_accessible()) stream.keep(host.owner());
}

void copy_from(const Buffer& self, nb::handle source, nb::handle stream, nb::handle options) {
  const Stream queue = own_stream_from(stream);
  if (nb::isinstance<Buffer>(source)) return copy(*nb::inst_ptr<Buffer>(source), self, queue, options, "copy_from");
  if (!PyObject_CheckBuffer(source.ptr())) {
    throw nb::type_error(
        ("src must be a Buffer, or an object with the buffer protocol such as a NumPy array, not " + type_of(source))
            .c_str());
  }
  const HostBytes host(source);
  if (host.bytes().size() > self.size()) {
    throw nb::value_error(("src has " + std::to_string(host.bytes().size()) + " bytes, which the buffer's " +
                           std::to_string(self.size()) + " have no room for")
                              .c_str());
  }
  without_gil([&] { copy_from_host(host, self.slice(0, host.bytes().size()), queue); });
}

void fill(const Buffer& self, nb::handle value, nb::handle stream) {
  const Stream queue = own_stream_from(stream);
  const FillPattern pattern = fill_pattern_from(value);
  if (size_of(self) % pattern.size != 0) {
    throw nb::value_error(
        ("buffer size (" + std::to_string(size_of(self)) + ") must be divisible by " + std::to_string(pattern.size))
            .c_str());
  }
  without_gil([&] { self.fill(std::span(pattern.bytes, pattern.size), queue); });
}

nb::object from_ipc_descriptor(nb::handle resource, nb::handle descriptor, nb::handle stream) {
  if (!nb::isinstance<MemoryPool>(resource)) {
    throw nb::type_error(
        ("Argument 'mr' has incorrect type (expected DeviceMemoryResource or PinnedMemoryResource, got " +
         type_of(resource) + ")")
            .c_str());
  }
  if (!nb::isinstance<IPCBufferDescriptor>(descriptor)) {
    throw nb::type_error(
        ("Argument 'ipc_descriptor' has incorrect type (expected IPCBufferDescriptor, got " + type_of(descriptor) + ")")
            .c_str());
  }
  const MemoryPool& pool = shared_pool(*nb::inst_ptr<MemoryPool>(resource));
  const IPCBufferDescriptor& wanted = nb::cast<const IPCBufferDescriptor&>(descriptor);
  const Stream queue = stream_or_default(stream);
  return buffer_from_resource(without_gil([&] { return Buffer::from_ipc_descriptor(pool, wanted, queue); }), resource);
}

IPCBufferDescriptor ipc_descriptor(const Buffer& self) {
  const std::optional<MemoryResource> resource = self.memory_resource();
  const std::optional<MemoryPool> pool = resource ? resource->as<MemoryPool>() : std::nullopt;
  if (!pool || !pool->is_ipc_enabled()) throw std::runtime_error("Memory resource is not IPC-enabled");
  return without_gil([&] { return self.ipc_descriptor(); });
}

/// A buffer of another process can be passed on, too, and a queue of multiprocessing pickles it some time after it was
/// put there, when it may be closed.
nb::tuple reduce_buffer(Self<Buffer> self) {
  if (is_closed(*self)) {
    const nb::object known = nb::module_::import_("cuprum._ipc").attr("description_of_import")(self.object());
    if (!known.is_none()) return nb::borrow<nb::tuple>(known);
  }
  const IPCBufferDescriptor descriptor = ipc_descriptor(*self);
  return nb::make_tuple(nb::module_::import_("cuprum._ipc").attr("buffer_from_descriptor"),
                        nb::make_tuple(resource_of_buffer(self), descriptor));
}

/// A property that a resource written in Python may have its own answer to, or raise.
template <typename Value>
nb::object property(Self<Buffer> self, const char* name, Value value) {
  const Buffer& buffer = *self;
  if (const std::optional<MemoryResource> resource = buffer.memory_resource()) {
    if (nb::object object = python_resource(*resource); object.is_valid()) return object.attr(name);
  }
  return nb::cast(without_gil([&] { return value(buffer); }));
}

nb::object owner_of(const Buffer& self) { return is_closed(self) ? nb::none() : object_kept(self.owner()); }

std::string representation(const Buffer& self) {
  const bool is_mapped = !is_closed(self) && self.is_mapped();
  return "<Buffer ptr=" + hexadecimal(self.handle()) + " size=" + std::to_string(size_of(self)) +
         (is_mapped ? " is_mapped=True>" : ">");
}

// The buffer protocol. An export holds the memory, so that closing the buffer meanwhile does no harm.

int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  view->obj = nullptr;
  try {
    const Buffer& buffer = *nb::inst_ptr<Buffer>(self);
    if (is_closed(buffer)) throw nb::buffer_error("the buffer is closed");
    if (!buffer.is_host_accessible()) {
      throw nb::buffer_error(
          "the host can't access this buffer: copy it to one of a PinnedMemoryResource, and use that");
    }
    const std::span<std::byte> bytes = without_gil([&] { return buffer.as_span<std::byte>(); });
    auto held = std::make_unique<Buffer>(buffer.slice(0, bytes.size()));
    if (PyBuffer_FillInfo(view, self, bytes.data(), static_cast<Py_ssize_t>(bytes.size()), 0, flags) != 0) return -1;
    view->internal = held.release();
    return 0;
  } catch (const nb::builtin_exception& error) {
    PyErr_SetString(PyExc_BufferError, error.what());
  } catch (...) {
    set_python_error();
  }
  return -1;
}

void release_buffer(PyObject*, Py_buffer* view) noexcept {
  GilRelease released;
  delete static_cast<Buffer*>(view->internal);
}

PyType_Slot buffer_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse_buffer)},
                              {Py_tp_clear, reinterpret_cast<void*>(&clear_buffer)},
                              {Py_tp_finalize, reinterpret_cast<void*>(&finalize_buffer)},
                              {Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)},
                              {Py_bf_releasebuffer, reinterpret_cast<void*>(&release_buffer)},
                              {0, nullptr}};

void bind_properties(nb::class_<Buffer>& bound) {
  bound.def_prop_ro("handle", &Buffer::handle, "The address, as an int; 0 when the buffer is closed.")
      .def_prop_ro("size", &size_of, "In bytes.")
      .def_prop_ro(
          "device_id",
          [](Self<Buffer> self) {
            return property(self, "device_id", [](const Buffer& buffer) { return buffer.device_id().value_or(-1); });
          },
          "The device that the memory is on; -1 for host memory.")
      .def_prop_ro(
          "is_device_accessible",
          [](Self<Buffer> self) {
            return property(self, "is_device_accessible", [](const Buffer& b) { return b.is_device_accessible(); });
          },
          "Whether kernels can use it.")
      .def_prop_ro(
          "is_host_accessible",
          [](Self<Buffer> self) {
            return property(self, "is_host_accessible", [](const Buffer& b) { return b.is_host_accessible(); });
          },
          "Whether the host can use it.")
      .def_prop_ro("is_managed", &Buffer::is_managed, WithoutGil(),
                   "Whether it is CUDA's managed memory, which moves to where it is used.")
      .def_prop_ro(
          "is_mapped", [](const Buffer& self) { return !is_closed(self) && self.is_mapped(); },
          "Whether the memory is another process's, imported into this one.")
      .def_prop_ro(
          "memory_resource", [](Self<Buffer> self) { return resource_of_buffer(self); },
          "Where it comes from; None for memory that from_handle() wraps, and when the buffer is closed.")
      .def_prop_ro("owner", &owner_of, "What from_handle() was given to keep alive, or None.");
}

void bind_interoperability(nb::class_<Buffer>& bound) {
  bound
      .def(
          "__dlpack__",
          [](Self<Buffer> self, nb::handle stream, nb::handle max_version, nb::handle dl_device, nb::handle copy) {
            const nb::tuple device = dlpack_device(*self);
            return dlpack_capsule(*self, dlpack_request(device, stream, max_version, dl_device, copy));
          },
          nb::kw_only(), "stream"_a = nb::none(), "max_version"_a = nb::none(), "dl_device"_a = nb::none(),
          "copy"_a = nb::none(),
          "The bytes as a DLPack capsule of int8. `stream` is made to wait for the work queued on the buffer's own; "
          "None is the legacy default stream, -1 asks for no order.")
      .def(
          "__dlpack_device__", [](const Buffer& self) { return dlpack_device(self); },
          "The kind and number of the device in DLPack's terms.");
}

}  // namespace

FillPattern fill_pattern_from(nb::handle value) {
  FillPattern pattern{};
  if (PyLong_Check(value.ptr())) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow != 0 || number < 0 || number > 255) {
      PyErr_Format(PyExc_OverflowError,
                   "fill value %R does not fit one byte (0 to 255): pass 2 or 4 bytes, such as a NumPy scalar",
                   value.ptr());
      throw nb::python_error();
    }
    pattern.bytes[0] = static_cast<std::byte>(number);
    pattern.size = 1;
    return pattern;
  }
  if (!PyObject_CheckBuffer(value.ptr())) {
    throw nb::type_error(("value must be an int or support the buffer protocol, got " + type_of(value)).c_str());
  }
  const HostBytes host(value);
  pattern.size = host.bytes().size();
  if (pattern.size != 1 && pattern.size != 2 && pattern.size != 4) {
    throw nb::value_error(("value must be 1, 2, or 4 bytes, got " + std::to_string(pattern.size)).c_str());
  }
  std::memcpy(pattern.bytes, host.bytes().data(), pattern.size);
  return pattern;
}

void bind_buffer(nb::module_& module) {
  watch_collections();
  nb::class_<Buffer> bound(module, "Buffer", nb::is_weak_referenceable(), nb::type_slots(buffer_slots),
                           "Memory of a device or of the host. Made by Device.allocate and memory resources.\n\n"
                           ">>> from cuprum import Device\n"
                           ">>> device = Device(); device.set_current()\n"
                           ">>> stream = device.create_stream()\n"
                           ">>> with device.allocate(1024, stream=stream) as buffer:\n"
                           "...     buffer.fill(0, stream=stream)\n"
                           "...     buffer.size\n"
                           "1024\n");
  forbid_construction(bound, "Buffer objects cannot be instantiated directly. Please use MemoryResource APIs.");
  bound
      .def_static(
          "from_handle", &buffer_from_handle<Buffer>, "ptr"_a.none(), "size"_a.none(), "mr"_a = nb::none(),
          "owner"_a = nb::none(), nb::kw_only(), "stream"_a = nb::none(),
          "Wraps `size` bytes at an address. `mr` gets them back when the buffer is closed or goes, after what "
          "is queued on `stream` (None: the default stream). Without, they stay somebody else's, and `owner` is "
          "kept alive as long as the buffer is there.")
      .def_static(
          "from_ipc_descriptor", &from_ipc_descriptor, "mr"_a.none(), "ipc_descriptor"_a.none(),
          "stream"_a = nb::none(),
          "Maps a buffer of another process. `mr` is that process's pool, imported. The buffer is unmapped after "
          "what is then queued on `stream`.")
      .def_prop_ro("ipc_descriptor", &ipc_descriptor, "Describes the buffer to other processes.")
      .def("get_ipc_descriptor", &ipc_descriptor, "ipc_descriptor, as it was called before.")
      .def("__reduce__", &reduce_buffer)
      .def("close", &close, "stream"_a = nb::none(),
           "Gives the memory back after the work that is queued on `stream`; None is the stream it was allocated on.")
      .def("set_deallocation_stream", &set_deallocation_stream, "stream"_a.none(),
           "Makes the memory be given back after the work that is then queued on `stream`. Orders nothing now.")
      .def("__enter__", &enter_itself<Buffer>)
      .def("__exit__",
           [](Buffer& self, nb::args) {
             close(self, nb::none());
             return false;
           })
      .def(
          "copy_to", &copy_to, "dst"_a = nb::none(), nb::kw_only(), "stream"_a.none(), "options"_a = nb::none(),
          "Queues a copy to `dst`, a Buffer of the same size, or to a new one of the same memory resource; returns it.")
      .def("copy_from", &copy_from, "src"_a.none(), nb::kw_only(), "stream"_a.none(), "options"_a = nb::none(),
           "Queues a copy of `src`: a Buffer of the same size, or an object with the buffer protocol, such as a NumPy "
           "array, whose bytes go to the beginning of this buffer.")
      .def("fill", &fill, "value"_a.none(), nb::kw_only(), "stream"_a.none(),
           "Fills the buffer with a value: an int from 0 to 255, or an object with the buffer protocol of 1, 2 or 4 "
           "bytes, such as a NumPy scalar.")
      .def(Equality<Buffer>())
      .def("__repr__", &representation);
  bind_properties(bound);
  bind_interoperability(bound);
}

}  // namespace cuprum::python
