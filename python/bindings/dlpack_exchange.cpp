#include "bindings/dlpack_exchange.hpp"

#include <unordered_map>

namespace cuprum::python {

#if DLPACK_MAJOR_VERSION > 1 || DLPACK_MINOR_VERSION >= 3

namespace {

/// The first in the chain of tables that is of the version known here.
const DLPackExchangeAPI* known_version(const DLPackExchangeAPIHeader* header) {
  while (header && header->version.major != DLPACK_MAJOR_VERSION) header = header->prev_api;
  return reinterpret_cast<const DLPackExchangeAPI*>(header);
}

/// How far up the bases of a type the first is that has an attribute of its own by that name.
std::size_t place_of(PyTypeObject* type, const char* name) {
  const nb::object bases = nb::borrow(reinterpret_cast<PyObject*>(type)).attr("__mro__");
  std::size_t place = 0;
  for (nb::handle base : bases) {
    if (nb::object(base.attr("__dict__")).attr("__contains__")(name).equal(nb::bool_(true))) return place;
    ++place;
  }
  return place;
}

/// A class that derives from a library's, and has a `__dlpack__` of its own, is asked that.
const DLPackExchangeAPI* look_up_functions(PyTypeObject* type) {
  // Views of our own know no stream, which a null stream can't say.
  if (PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(nb::type<PythonView>().ptr()))) return nullptr;
  constexpr const char* name = "__dlpack_c_exchange_api__";
  const nb::object capsule = nb::getattr(reinterpret_cast<PyObject*>(type), name, nb::none());
  if (!PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api") || place_of(type, name) > place_of(type, "__dlpack__"))
    return nullptr;
  const auto* given =
      static_cast<const DLPackExchangeAPIHeader*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  const DLPackExchangeAPI* functions = known_version(given);
  if (!functions || !functions->managed_tensor_from_py_object_no_sync) return nullptr;
  capsule.inc_ref();  // for ever, as its functions are
  return functions;
}

/// By type, looked up once. Types that were looked up are kept, so that none takes the place of another; there are few
/// of them, and where there are not, the rest is looked up each time.
const DLPackExchangeAPI* functions_of(nb::handle object) {
  static std::unordered_map<PyTypeObject*, const DLPackExchangeAPI*>& known =
      *new std::unordered_map<PyTypeObject*, const DLPackExchangeAPI*>;
  static nb::ft_mutex mutex;
  PyTypeObject* const type = Py_TYPE(object.ptr());
  {
    nb::ft_lock_guard lock(mutex);
    if (const auto found = known.find(type); found != known.end()) return found->second;
  }
  const DLPackExchangeAPI* functions = look_up_functions(type);
  nb::ft_lock_guard lock(mutex);
  if (known.size() < 1000 && known.emplace(type, functions).second) Py_INCREF(reinterpret_cast<PyObject*>(type));
  return functions;
}

/// Makes the consumer's stream wait for the one that the other library works on. False when that is for the object's
/// own methods: streams that are meant by a number belong to the current device, which another tensor is not on.
bool order_after(const DLPackExchangeAPI& functions, DLDevice device, nb::handle stream) {
  const nb::object wanted = consumer_stream(device.device_type, stream);
  const bool is_on_device = device.device_type == kDLCUDA || device.device_type == kDLCUDAManaged;
  const std::int64_t number =
      wanted.is_none() ? 1 : value_from<std::int64_t>(wanted, "stream_ptr");  // None: the legacy one
  if (!is_on_device || number == -1) return true;
  if (!functions.current_work_stream || device.device_id != Device().device_id()) return false;
  void* current = nullptr;
  if (functions.current_work_stream(device.device_type, device.device_id, &current) != 0) throw nb::python_error();
  if (!current) current = reinterpret_cast<void*>(std::uintptr_t{1});
  if (reinterpret_cast<std::int64_t>(current) == number) return true;
  const Stream first = Stream::from_handle(static_cast<CUstream_st*>(current));
  const Stream then = Stream::from_handle(reinterpret_cast<CUstream_st*>(number));
  without_gil([&] { then.wait(first); });
  return true;
}

bool is_known_device(DLDeviceType kind) {
  return kind == kDLCPU || kind == kDLCUDA || kind == kDLCUDAHost || kind == kDLCUDAManaged;
}

}  // namespace

bool has_exchange_functions(nb::handle object) { return functions_of(object) != nullptr; }

std::optional<PythonView> view_by_exchange(nb::handle object, nb::handle stream) {
  const DLPackExchangeAPI* functions = functions_of(object);
  if (!functions) return std::nullopt;
  DLManagedTensorVersioned* managed = nullptr;
  if (functions->managed_tensor_from_py_object_no_sync(object.ptr(), &managed) != 0 || !managed) {
    PyErr_Clear();  // __dlpack__ will say it
    return std::nullopt;
  }
  PythonView view = view_of_tensor(managed);
  const DLDevice device = view.tensor->device;
  // PyTorch notes of complex numbers that they are conjugate; only __dlpack__ looks at that.
  if (managed->version.major != DLPACK_MAJOR_VERSION || view.tensor->dtype.code == kDLComplex ||
      !is_known_device(device.device_type) || !order_after(*functions, device, stream))
    return std::nullopt;
  view.exporting_obj = nb::borrow(object);
  return view;
}

std::optional<DLTensor> tensor_by_exchange(nb::handle object) {
  const DLPackExchangeAPI* functions = functions_of(object);
  DLTensor tensor{};
  if (!functions || !functions->dltensor_from_py_object_no_sync) return std::nullopt;
  if (functions->dltensor_from_py_object_no_sync(object.ptr(), &tensor) == 0) return tensor;
  PyErr_Clear();
  return std::nullopt;
}

#else

bool has_exchange_functions(nb::handle) { return false; }
std::optional<PythonView> view_by_exchange(nb::handle, nb::handle) { return std::nullopt; }
std::optional<DLTensor> tensor_by_exchange(nb::handle) { return std::nullopt; }

#endif

}  // namespace cuprum::python
