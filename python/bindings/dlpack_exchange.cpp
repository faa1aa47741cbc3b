#include "bindings/dlpack_exchange.hpp"

#include "bindings/type_table.hpp"

namespace cuprum::python {

#if DLPACK_MAJOR_VERSION > 1 || DLPACK_MINOR_VERSION >= 3

namespace {

/// The first in the chain of tables that is of the version known here.
const DLPackExchangeAPI* known_version(const DLPackExchangeAPIHeader* header) {
  while (header && header->version.major != DLPACK_MAJOR_VERSION) header = header->prev_api;
  return reinterpret_cast<const DLPackExchangeAPI*>(header);
}

/// What is known of a type: its functions, or null, and whether they are PyTorch's.
struct Exchange {
  const DLPackExchangeAPI* functions = nullptr;
  bool is_torch = false;
};

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

bool is_of_torch(nb::handle type) {
  const nb::object module = nb::getattr(type, "__module__", nb::none());
  if (!nb::isinstance<nb::str>(module)) return false;
  const std::string_view name = nb::cast<std::string_view>(module);
  return name == "torch" || name.starts_with("torch.");
}

/// A class that derives from a library's, and has a `__dlpack__` of its own, is asked that.
Exchange look_up_exchange(PyTypeObject* type) {
  // Views of our own know no stream, which a null stream can't say.
  if (PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(nb::type<PythonView>().ptr()))) return {};
  constexpr const char* name = "__dlpack_c_exchange_api__";
  const nb::object capsule = nb::getattr(reinterpret_cast<PyObject*>(type), name, nb::none());
  const std::size_t place = place_of(type, name);
  if (!PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api") || place > place_of(type, "__dlpack__")) return {};
  const auto* given =
      static_cast<const DLPackExchangeAPIHeader*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  const DLPackExchangeAPI* functions = known_version(given);
  if (!functions || !functions->managed_tensor_from_py_object_no_sync) return {};
  capsule.inc_ref();  // for ever, as its functions are
  const nb::object bases = nb::borrow(reinterpret_cast<PyObject*>(type)).attr("__mro__");
  return {functions, is_of_torch(nb::object(bases[place]))};
}

/// By type, looked up once. Types that were looked up are kept, so that none takes the place of another; there are few
/// of them, and where there are not, the rest is looked up each time.
Exchange exchange_of(nb::handle object) {
  static constinit TypeTable<Exchange> known;
  PyTypeObject* const type = Py_TYPE(object.ptr());
  if (const Exchange* found = known.find(type)) return *found;
  const Exchange exchange = look_up_exchange(type);
  if (known.add(type, exchange)) Py_INCREF(reinterpret_cast<PyObject*>(type));
  return exchange;
}

/// Makes the consumer's stream wait for the one that the other library works on. False when that is for the object's
/// own methods: streams that are meant by a number belong to the current device, which another tensor is not on.
bool order_after(const DLPackExchangeAPI& functions, DLDevice device, nb::handle stream) {
  if (is_unordered(stream)) return true;
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

/// Whether PyTorch's managed tensor has other strides than the tensor itself: of axes with one element it may.
bool are_strides_changed(const DLTensor& tensor) {
  std::int64_t dense = 1;
  for (int axis = tensor.ndim - 1; axis >= 0; --axis) {
    if (tensor.shape[axis] == 1 && tensor.strides[axis] != dense) return true;
    dense *= tensor.shape[axis];
  }
  return false;
}

/// Without a managed tensor, which takes several times as long to make. That of PyTorch keeps no more than the object
/// does, and says nothing else: none of its tensors is read-only. Of others we don't know that.
bool fill_from_description(PythonView& view, const DLPackExchangeAPI& functions, nb::handle object) {
  DLTensor tensor{};
  if (!functions.dltensor_from_py_object_no_sync) return false;
  if (functions.dltensor_from_py_object_no_sync(object.ptr(), &tensor) != 0) {
    PyErr_Clear();
    return false;
  }
  if (tensor.device.device_type == kDLCPU) return false;  // only the managed tensor says whether it is page-locked
  if (tensor.ndim > TensorCopy::max_axes || !tensor.strides || are_strides_changed(tensor)) return false;
  fill_from_copy(view, tensor);
  return true;
}

bool fill_from_managed(PythonView& view, const DLPackExchangeAPI& functions, nb::handle object) {
  DLManagedTensorVersioned* managed = nullptr;
  if (functions.managed_tensor_from_py_object_no_sync(object.ptr(), &managed) != 0 || !managed) {
    PyErr_Clear();  // __dlpack__ will say it
    return false;
  }
  view = view_of_tensor(managed);
  return managed->version.major == DLPACK_MAJOR_VERSION;
}

bool try_to_fill(PythonView& view, const Exchange& exchange, nb::handle object, nb::handle stream) {
  const DLPackExchangeAPI& functions = *exchange.functions;
  const bool is_described = exchange.is_torch && fill_from_description(view, functions, object);
  if (!is_described && !fill_from_managed(view, functions, object)) return false;
  const DLDevice device = view.tensor->device;
  // PyTorch notes of complex numbers that they are conjugate; only __dlpack__ looks at that.
  return view.tensor->dtype.code != kDLComplex && is_known_device(device.device_type) &&
         order_after(functions, device, stream);
}

}  // namespace

bool has_exchange_functions(nb::handle object) { return exchange_of(object).functions != nullptr; }

bool fill_by_exchange(PythonView& view, nb::handle object, nb::handle stream) {
  const Exchange exchange = exchange_of(object);
  if (!exchange.functions) return false;
  if (!try_to_fill(view, exchange, object, stream)) {
    view = PythonView();
    return false;
  }
  view.exporting_obj = nb::borrow(object);
  return true;
}

std::optional<DLTensor> tensor_by_exchange(nb::handle object) {
  const DLPackExchangeAPI* functions = exchange_of(object).functions;
  DLTensor tensor{};
  if (!functions || !functions->dltensor_from_py_object_no_sync) return std::nullopt;
  if (functions->dltensor_from_py_object_no_sync(object.ptr(), &tensor) == 0) return tensor;
  PyErr_Clear();
  return std::nullopt;
}

#else

bool has_exchange_functions(nb::handle) { return false; }
bool fill_by_exchange(PythonView&, nb::handle, nb::handle) { return false; }
std::optional<DLTensor> tensor_by_exchange(nb::handle) { return std::nullopt; }

#endif

}  // namespace cuprum::python
