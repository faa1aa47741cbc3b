// Memory resources: see <cuprum/memory_resource.hpp>.
#include "bindings/memory_resource.hpp"

#include <mutex>
#include <unordered_map>

#include "bindings/python_entry.hpp"

namespace cuprum::python {
namespace {

/// Calls a resource that is written in Python. Holds its object; that object does not hold this, so that both go when
/// nobody needs them.
class PythonResource : public MemoryResource::Interface {
 public:
  explicit PythonResource(nb::handle object) : object_(kept_object(object)), key_(object.ptr()) {}
  PyObject* object() const { return key_; }

  DevicePointer allocate(std::size_t, const Stream&) override {
    throw WrongState("a memory resource that is written in Python gives out Buffers: allocate one of those");
  }

  Buffer allocate_buffer(const MemoryResource&, std::size_t size, const Stream& stream) override {
    nb::gil_scoped_acquire acquired;
    return nb::cast<Buffer>(checked_buffer(key_, nb::handle(key_).attr("allocate")(size, "stream"_a = stream)));
  }

  void deallocate(DevicePointer pointer, std::size_t size, const Stream& stream) override {
    const PythonEntry python;
    if (!python) return;                  // the process ends, and with it the memory
    nb::error_scope error_of_the_caller;  // the buffer may go because an exception passes
    // Resources call the driver by themselves, and expect a context there wherever the buffer goes.
    const ScopedCurrent current(stream.context());
    try {
      nb::handle(key_).attr("deallocate")(pointer, size, "stream"_a = stream);
    } catch (nb::python_error& error) {
      throw std::runtime_error("Warning: mr.deallocate() failed during Buffer destruction: " +
                               nb::cast<std::string>(nb::str(error.value())));
    }
  }

  bool is_device_accessible() const override { return truth("is_device_accessible"); }
  bool is_host_accessible() const override { return truth("is_host_accessible"); }
  bool is_managed() const override { return truth("is_managed"); }

  std::optional<int> device_id() const override {
    nb::gil_scoped_acquire acquired;
    try {
      const int device = nb::cast<int>(nb::handle(key_).attr("device_id"));
      return device < 0 ? std::nullopt : std::optional(device);
    } catch (const std::exception&) {
      return std::nullopt;  // many raise here to say that their memory is on no device
    }
  }

 private:
  bool truth(const char* name) const {
    nb::gil_scoped_acquire acquired;
    const int value = PyObject_IsTrue(nb::object(nb::handle(key_).attr(name)).ptr());
    if (value < 0) throw nb::python_error();
    return value != 0;
  }

  std::shared_ptr<void> object_;
  PyObject* key_;
};

/// Which Python object stands for which resource.
struct Registry {
  std::mutex mutex;
  std::unordered_map<const void*, nb::object> objects;         ///< weak references, by implementation
  std::unordered_map<const void*, nb::object> objects_beside;  ///< the same to what else there is one of
  /// By a Buffer's object: a weak reference to it and the object of its resource, where the implementation does not
  /// tell that.
  std::unordered_map<PyObject*, std::pair<nb::object, nb::object>> of_buffers;
  std::vector<PyObject*> native_classes;
};

Registry& registry() {
  static Registry& registry = *new Registry;  // never ends: objects may go after everything else
  return registry;
}

const nb::object& reference_in(const nb::object& entry) { return entry; }
const nb::object& reference_in(const std::pair<nb::object, nb::object>& entry) { return entry.first; }

/// What a weak reference calls when its object goes: takes the entry `key` out of a table, unless another took the
/// place.
template <auto table>
PyObject* forget(PyObject* key_of_entry, PyObject* reference) noexcept {
  using Table = std::remove_reference_t<decltype(registry().*table)>;
  const auto key = static_cast<typename Table::key_type>(PyCapsule_GetPointer(key_of_entry, nullptr));
  typename Table::node_type gone;  // goes after the lock: it may end Python objects
  {
    std::lock_guard lock(registry().mutex);
    Table& entries = registry().*table;
    const auto found = entries.find(key);
    if (found != entries.end() && reference_in(found->second).is(reference)) gone = entries.extract(found);
  }
  Py_RETURN_NONE;
}

/// A weak reference that does so. Not with a function of nanobind, which lives for ever where Python has no GIL.
template <auto table>
nb::object reference_for(const void* key, nb::handle object) {
  static PyMethodDef definition = {"forget", &forget<table>, METH_O, nullptr};
  nb::object capsule = nb::steal(PyCapsule_New(const_cast<void*>(key), nullptr, nullptr));
  if (!capsule.is_valid()) throw nb::python_error();
  nb::object call = nb::steal(PyCFunction_NewEx(&definition, capsule.ptr(), nullptr));
  if (!call.is_valid()) throw nb::python_error();
  return nb::weakref(object, call);
}

using References = std::unordered_map<const void*, nb::object>;

nb::object reference_to(const void* implementation, References Registry::* table) {
  std::lock_guard lock(registry().mutex);
  const References& references = registry().*table;
  const auto found = references.find(implementation);
  return found == references.end() ? nb::object() : found->second;
}

/// What a weak reference refers to; invalid when that is gone.
nb::object referred_to(const nb::object& reference) {
  if (!reference.is_valid()) return {};
  nb::object object = reference();
  return object.is_none() ? nb::object() : object;
}

/// The object that stands for an implementation now; invalid when there is none.
nb::object registered_object(const void* implementation, References Registry::* table = &Registry::objects) {
  return referred_to(reference_to(implementation, table));
}

/// Has `object` stand for an implementation, unless another thread was faster. Returns the one that does. Python is not
/// asked with the lock in hand: it may want to stop this thread, for a collection that needs the lock.
template <References Registry::* table>
nb::object register_once(const void* implementation, nb::object object) {
  nb::object reference = reference_for<table>(implementation, object);
  for (;;) {
    const nb::object seen = reference_to(implementation, table);
    if (nb::object there = referred_to(seen); there.is_valid()) return there;
    std::lock_guard lock(registry().mutex);
    nb::object& place = (registry().*table)[implementation];
    if (!place.is(seen)) continue;
    std::swap(place, reference);
    return object;
  }
}

nb::object new_object(const MemoryResource& resource) {
  if (const auto pool = resource.as<DeviceMemoryResource>()) return nb::cast(*pool);
  if (const auto pool = resource.as<PinnedMemoryResource>()) return nb::cast(*pool);
  if (const auto pool = resource.as<ManagedMemoryResource>()) return nb::cast(*pool);
  if (const auto memory = resource.as<GraphMemoryResource>()) return nb::cast(*memory);
  if (const auto memory = resource.as<LegacyPinnedMemoryResource>()) return nb::cast(*memory);
  if (const auto memory = resource.as<VirtualMemoryResource>()) return nb::cast(*memory);
  return nb::cast(resource);
}

/// The resource of the library in a Python object; empty for one that is written in Python.
const MemoryResource& native(nb::handle object) { return *nb::inst_ptr<MemoryResource>(object); }

[[noreturn]] void refuse_abstract(nb::handle self, const char* member) {
  throw nb::type_error((std::string("MemoryResource.") + member + " must be implemented by subclasses, which " +
                        type_of(self) + " does not do")
                           .c_str());
}

const MemoryResource& implemented(Self<MemoryResource> self, const char* member) {
  if (!self->implementation()) refuse_abstract(self, member);
  return *self;
}

nb::object allocate(Self<MemoryResource> self, nb::handle size, nb::handle stream) {
  const MemoryResource& resource = implemented(self, "allocate");
  const std::size_t bytes = size_from(size);
  const Stream queue = stream_or_default(stream);
  return buffer_from_resource(without_gil([&] { return resource.allocate(bytes, queue); }), self);
}

void deallocate(Self<MemoryResource> self, nb::handle pointer, nb::handle size, nb::handle stream) {
  const MemoryResource& resource = implemented(self, "deallocate");
  const std::uint64_t address = raw_value(pointer, "ptr");
  const std::size_t bytes = size_from(size);
  const Stream queue = stream_or_default(stream);
  without_gil([&] { resource.deallocate(address, bytes, queue); });
}

/// Objects of Python classes are complete without a call of this class's __init__, which many forget.
PyObject* new_instance(PyTypeObject* type, PyObject*, PyObject*) noexcept {
  try {
    nb::object object = nb::inst_alloc(reinterpret_cast<PyObject*>(type));
    new (nb::inst_ptr<MemoryResource>(object)) MemoryResource();
    nb::inst_mark_ready(object);
    return object.release().ptr();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

int initialise(PyObject*, PyObject*, PyObject*) noexcept { return 0; }

PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(&new_instance)},
                       {Py_tp_init, reinterpret_cast<void*>(&initialise)},
                       {0, nullptr}};

}  // namespace

bool is_written_in_python(nb::handle object) {
  const std::vector<PyObject*>& classes = registry().native_classes;
  return std::find(classes.begin(), classes.end(), reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()))) == classes.end();
}

MemoryResource memory_resource_from(nb::handle object, const char* what) {
  if (!nb::isinstance<MemoryResource>(object)) {
    throw nb::type_error((std::string(what) + " must be a MemoryResource, not " + type_of(object)).c_str());
  }
  if (!is_written_in_python(object) && native(object).implementation()) {
    register_resource(object);
    return native(object);
  }
  // One for each who asks: the garbage collector wants to know whose reference is whose.
  return MemoryResource(std::make_shared<PythonResource>(object));
}

nb::object checked_buffer(nb::handle resource, nb::object returned) {
  if (nb::isinstance<Buffer>(returned)) return returned;
  const std::string name = nb::cast<std::string>(resource.type().attr("__name__"));
  throw nb::type_error((name + ".allocate must return a Buffer, not " + type_of(returned)).c_str());
}

nb::object python_resource(const MemoryResource& resource) {
  const auto* written = dynamic_cast<const PythonResource*>(resource.implementation().get());
  return written ? nb::borrow(written->object()) : nb::object();
}

PyObject* held_once(const MemoryResource& resource) {
  const auto* written = dynamic_cast<const PythonResource*>(resource.implementation().get());
  return written && resource.implementation().use_count() == 2 ? written->object() : nullptr;
}

PyObject* noted_resource(nb::handle buffer) {
  std::lock_guard lock(registry().mutex);
  const auto found = registry().of_buffers.find(buffer.ptr());
  return found == registry().of_buffers.end() ? nullptr : found->second.second.ptr();
}

void forget_noted_resource(nb::handle buffer) {
  decltype(Registry::of_buffers)::node_type gone;  // goes after the lock: it may end Python objects
  std::lock_guard lock(registry().mutex);
  gone = registry().of_buffers.extract(buffer.ptr());
}

nb::object memory_resource_object(const MemoryResource& resource) {
  if (nb::object object = python_resource(resource); object.is_valid()) return object;
  if (nb::object object = registered_object(resource.implementation().get()); object.is_valid()) return object;
  nb::object object = new_object(resource);
  if (!native(object).implementation()) return object;
  return register_once<&Registry::objects>(native(object).implementation().get(), object);
}

void register_resource(nb::handle object) {
  const void* const implementation = native(object).implementation().get();
  if (!implementation || registered_object(implementation).is_valid()) return;
  register_once<&Registry::objects>(implementation, nb::borrow(object));
}

nb::object object_beside_resource(const MemoryResource& resource, nb::object (*make)(const MemoryResource&)) {
  const void* const key = resource.implementation().get();
  if (nb::object there = registered_object(key, &Registry::objects_beside); there.is_valid()) return there;
  return register_once<&Registry::objects_beside>(key, make(resource));
}

void add_native_class(nb::handle type) { registry().native_classes.push_back(type.ptr()); }

void note_resource(nb::handle buffer, nb::handle resource) {
  const void* const implementation = native(resource).implementation().get();
  const nb::object known = registered_object(implementation);
  if (known.is(resource)) return;
  if (!known.is_valid() && !is_written_in_python(resource)) return register_resource(resource);
  nb::object reference = reference_for<&Registry::of_buffers>(buffer.ptr(), buffer);
  std::pair<nb::object, nb::object> entry(std::move(reference), nb::borrow(resource));
  std::lock_guard lock(registry().mutex);
  std::swap(registry().of_buffers[buffer.ptr()], entry);
}

nb::object resource_of_buffer(nb::handle buffer) {
  const Buffer& self = *nb::inst_ptr<Buffer>(buffer);
  std::optional<MemoryResource> resource;
  try {
    resource = self.memory_resource();
  } catch (const InvalidArgument&) {
    return nb::none();  // closed
  }
  if (!resource) return nb::none();
  {
    std::lock_guard lock(registry().mutex);
    const auto found = registry().of_buffers.find(buffer.ptr());
    if (found != registry().of_buffers.end()) return found->second.second;
  }
  return memory_resource_object(*resource);
}

Stream stream_or_default(nb::handle stream) { return stream.is_none() ? default_stream() : own_stream_from(stream); }

std::size_t size_from(nb::handle number, const char* what) {
  nb::object index = nb::steal(PyNumber_Index(number.ptr()));
  if (!index.is_valid()) {
    PyErr_Clear();
    throw nb::type_error((std::string(what) + " must be an int, not " + type_of(number)).c_str());
  }
  const std::size_t size = PyLong_AsSize_t(index.ptr());
  if (size == static_cast<std::size_t>(-1) && PyErr_Occurred()) refuse_number(what, index);
  return size;
}

void bind_memory_resource(nb::module_& module) {
  nb::class_<MemoryResource> bound(
      module, "MemoryResource", nb::is_weak_referenceable(), nb::type_slots(slots),
      "Where buffers come from. To bring your own, derive from it and write allocate, deallocate,\n"
      "is_device_accessible, is_host_accessible and device_id:\n\n"
      ">>> import ctypes\n"
      ">>> from cuprum import Buffer, Device, MemoryResource\n"
      ">>> class HostMemory(MemoryResource):\n"
      "...     is_device_accessible, is_host_accessible, device_id = False, True, -1\n"
      "...     def __init__(self):\n"
      "...         self.blocks = {}\n"
      "...     def allocate(self, size, *, stream=None):\n"
      "...         block = (ctypes.c_byte * size)()\n"
      "...         self.blocks[ctypes.addressof(block)] = block\n"
      "...         return Buffer.from_handle(ctypes.addressof(block), size, mr=self)\n"
      "...     def deallocate(self, ptr, size, *, stream=None):\n"
      "...         del self.blocks[ptr]\n"
      ">>> Device().set_current()\n"
      ">>> with HostMemory().allocate(16) as buffer:\n"
      "...     buffer.is_host_accessible, buffer.size\n"
      "(True, 16)\n");
  add_native_class(bound);
  bound
      .def("allocate", &allocate, "size"_a.none(), "stream"_a = nb::none(),
           "A Buffer of `size` bytes, usable by work that is queued on `stream` from now on.")
      .def("deallocate", &deallocate, "ptr"_a.none(), "size"_a.none(), "stream"_a = nb::none(),
           "Takes back what a Buffer of this resource had, after the work that is queued on `stream`.")
      .def_prop_ro(
          "is_device_accessible",
          [](Self<MemoryResource> self) { return implemented(self, "is_device_accessible").is_device_accessible(); },
          "Whether kernels can use the memory.")
      .def_prop_ro(
          "is_host_accessible",
          [](Self<MemoryResource> self) { return implemented(self, "is_host_accessible").is_host_accessible(); },
          "Whether the host can use the memory.")
      .def_prop_ro(
          "is_managed", [](const MemoryResource& self) { return self.implementation() && self.is_managed(); },
          "Whether it is CUDA's managed memory, which moves to where it is used.")
      .def_prop_ro(
          "device_id",
          [](Self<MemoryResource> self) { return implemented(self, "device_id").device_id().value_or(-1); },
          "The device that the memory is on; -1 for host memory.");
}

}  // namespace cuprum::python
