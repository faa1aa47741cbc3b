// Views for other libraries: DLPack capsules, and DLPack's functions for C.
#include "bindings/dlpack.hpp"
#include "bindings/strided_memory_view.hpp"

namespace cuprum::python {
namespace {

/// A tensor together with what it refers to.
template <typename Tensor>
struct Exported {
  Tensor tensor{};
  std::vector<std::int64_t> dims;  ///< the shape, then the strides
  std::shared_ptr<void> view;      ///< the Python object
};

template <typename Tensor>
void end_exported(Tensor* tensor) {
  delete static_cast<Exported<Tensor>*>(tensor->manager_ctx);
}

struct ExtendedType {
  const char* name;
  DLDataType type;
};

constexpr ExtendedType extended_types[] = {
    {"bfloat16", {kDLBfloat, 16, 1}},
    {"float8_e3m4", {kDLFloat8_e3m4, 8, 1}},
    {"float8_e4m3", {kDLFloat8_e4m3, 8, 1}},
    {"float8_e4m3b11fnuz", {kDLFloat8_e4m3b11fnuz, 8, 1}},
    {"float8_e4m3fn", {kDLFloat8_e4m3fn, 8, 1}},
    {"float8_e4m3fnuz", {kDLFloat8_e4m3fnuz, 8, 1}},
    {"float8_e5m2", {kDLFloat8_e5m2, 8, 1}},
    {"float8_e5m2fnuz", {kDLFloat8_e5m2fnuz, 8, 1}},
    {"float8_e8m0fnu", {kDLFloat8_e8m0fnu, 8, 1}},
};

std::optional<DLDataTypeCode> code_of_kind(char kind, int bits) {
  switch (kind) {
    case 'b': return kDLBool;
    case 'i': return kDLInt;
    case 'u': return kDLUInt;
    case 'f': return bits <= 64 ? std::optional(kDLFloat) : std::nullopt;
    case 'c': return bits <= 128 ? std::optional(kDLComplex) : std::nullopt;
    default: return std::nullopt;
  }
}

DLDataType type_of_dtype(nb::handle dtype) {
  if (dtype.is_none()) {
    throw nb::buffer_error(
        "Cannot export StridedMemoryView via DLPack without dtype information; create the view with dtype specified.");
  }
  if (!dtype.attr("fields").is_none()) throw nb::buffer_error("Structured dtypes are not supported for DLPack export");
  if (!nb::cast<bool>(dtype.attr("isnative")))
    throw nb::buffer_error("Non-native-endian dtypes are not supported for DLPack export");
  const std::string name = nb::cast<std::string>(dtype.attr("name"));
  for (const ExtendedType& extended : extended_types)
    if (name == extended.name) return extended.type;
  const int bits = nb::cast<int>(dtype.attr("itemsize")) * 8;
  const std::optional<DLDataTypeCode> code = code_of_kind(nb::cast<std::string>(dtype.attr("kind"))[0], bits);
  if (!code) throw nb::buffer_error(("Unsupported dtype for DLPack export: " + name).c_str());
  return {static_cast<std::uint8_t>(*code), static_cast<std::uint8_t>(bits), 1};
}

/// All but shape and strides.
void describe(DLTensor& tensor, PythonView& view) {
  const StridedLayout& layout = layout_of(view).layout;
  const nb::tuple device = device_of_view(view);
  tensor.dtype = view.tensor && !view.dtype.is_valid() ? view.tensor->dtype : type_of_dtype(dtype_of_view(view));
  tensor.device = {static_cast<DLDeviceType>(nb::cast<int>(device[0])), nb::cast<int>(device[1])};
  tensor.ndim = layout.ndim();
  tensor.data = layout.volume() == 0 ? nullptr : reinterpret_cast<void*>(view.ptr);
  tensor.byte_offset = 0;
}

template <typename Tensor>
std::unique_ptr<Exported<Tensor>> exported(nb::handle self) {
  PythonView& view = *nb::inst_ptr<PythonView>(self);
  auto made = std::make_unique<Exported<Tensor>>();
  DLTensor& tensor = made->tensor.dl_tensor;
  describe(tensor, view);
  const StridedLayout& layout = layout_of(view).layout;
  made->dims.assign(layout.shape().begin(), layout.shape().end());
  made->dims.insert(made->dims.end(), layout.strides().begin(), layout.strides().end());
  tensor.shape = tensor.ndim == 0 ? nullptr : made->dims.data();
  tensor.strides = tensor.ndim == 0 ? nullptr : made->dims.data() + tensor.ndim;
  made->view = kept_object(self);
  made->tensor.manager_ctx = made.get();
  made->tensor.deleter = &end_exported<Tensor>;
  return made;
}

DLManagedTensorVersioned* versioned_tensor(nb::handle self) {
  auto made = exported<DLManagedTensorVersioned>(self);
  made->tensor.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  made->tensor.flags = nb::inst_ptr<PythonView>(self)->readonly ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  return &made.release()->tensor;
}

/// Gives back the tensor of a capsule that nobody took.
template <typename Tensor>
void end_unused(PyObject* capsule, const char* name) noexcept {
  if (!PyCapsule_IsValid(capsule, name)) return;
  nb::error_scope error_of_the_caller;
  auto* tensor = static_cast<Tensor*>(PyCapsule_GetPointer(capsule, name));
  if (tensor->deleter) tensor->deleter(tensor);
}

void end_plain_capsule(PyObject* capsule) noexcept { end_unused<DLManagedTensor>(capsule, "dltensor"); }
void end_versioned_capsule(PyObject* capsule) noexcept {
  end_unused<DLManagedTensorVersioned>(capsule, "dltensor_versioned");
}

template <typename Tensor>
nb::object capsule_with(Tensor* tensor, const char* name, PyCapsule_Destructor destructor) {
  PyObject* capsule = PyCapsule_New(tensor, name, destructor);
  if (!capsule) {
    tensor->deleter(tensor);
    throw nb::python_error();
  }
  return nb::steal(capsule);
}

#if DLPACK_MAJOR_VERSION > 1 || DLPACK_MINOR_VERSION >= 3

// DLPackExchangeAPI: what other libraries call from C, with the GIL held, without going through capsules.

template <typename Function>
int answer(Function function) noexcept {
  nb::gil_scoped_acquire acquired;
  try {
    function();
    return 0;
  } catch (...) {
    set_python_error();
    return -1;
  }
}

nb::handle checked_view(void* object) {
  nb::handle view(static_cast<PyObject*>(object));
  if (!nb::isinstance<PythonView>(view)) throw nb::type_error("py_object must be a StridedMemoryView");
  return view;
}

template <typename Out>
void check_out(Out* out, const char* name) {
  if (!out) throw std::runtime_error(std::string(name) + " cannot be NULL");
}

int refuse_allocation(DLTensor*, DLManagedTensorVersioned** out, void* context,
                      void (*set_error)(void*, const char*, const char*)) noexcept {
  constexpr const char* message = "managed_tensor_allocator is not supported by StridedMemoryView";
  if (out) *out = nullptr;
  if (set_error) set_error(context, "NotImplementedError", message);
  nb::gil_scoped_acquire acquired;
  PyErr_SetString(PyExc_NotImplementedError, message);
  return -1;
}

int tensor_from_object(void* object, DLManagedTensorVersioned** out) noexcept {
  return answer([&] {
    check_out(out, "out");
    *out = nullptr;
    *out = versioned_tensor(checked_view(object));
  });
}

int object_from_tensor(DLManagedTensorVersioned* tensor, void** out) noexcept {
  return answer([&] {
    check_out(out, "out_py_object");
    *out = nullptr;
    check_out(tensor, "tensor");
    *out = nb::cast(view_of_tensor(tensor)).release().ptr();
  });
}

int describe_object(void* object, DLTensor* out) noexcept {
  return answer([&] {
    check_out(out, "out");
    PythonView& view = *nb::inst_ptr<PythonView>(checked_view(object));
    describe(*out, view);
    const StridedLayout& layout = layout_of(view).layout;  // which the view keeps
    out->shape = out->ndim == 0 ? nullptr : const_cast<std::int64_t*>(layout.shape().data());
    out->strides = out->ndim == 0 ? nullptr : const_cast<std::int64_t*>(layout.strides().data());
  });
}

/// There is no stream that everybody works on.
int current_stream(DLDeviceType, std::int32_t, void** out) noexcept {
  return answer([&] {
    check_out(out, "out_current_stream");
    *out = nullptr;
  });
}

#endif

}  // namespace

nb::tuple device_of_view(const PythonView& view) {
  if (view.tensor) {
    const DLDevice device = view.tensor->device;
    return nb::make_tuple(static_cast<int>(device.device_type), device.device_type == kDLCUDA ? device.device_id : 0);
  }
  if (!view.is_device_accessible) return nb::make_tuple(static_cast<int>(kDLCPU), 0);
  if (nb::isinstance<Buffer>(view.exporting_obj)) return dlpack_device(*nb::inst_ptr<Buffer>(view.exporting_obj));
  if (view.ptr == 0) return nb::make_tuple(static_cast<int>(kDLCUDA), view.device_id);
  return dlpack_device(Buffer::from_handle(view.ptr, 1));
}

nb::object capsule_of_view(nb::handle self, bool is_versioned) {
  if (is_versioned) return capsule_with(versioned_tensor(self), "dltensor_versioned", &end_versioned_capsule);
  auto made = exported<DLManagedTensor>(self);
  return capsule_with(&made.release()->tensor, "dltensor", &end_plain_capsule);
}

nb::object exchange_api() {
#if DLPACK_MAJOR_VERSION > 1 || DLPACK_MINOR_VERSION >= 3
  static DLPackExchangeAPI api{.header = {.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION}, .prev_api = nullptr},
                               .managed_tensor_allocator = &refuse_allocation,
                               .managed_tensor_from_py_object_no_sync = &tensor_from_object,
                               .managed_tensor_to_py_object_no_sync = &object_from_tensor,
                               .dltensor_from_py_object_no_sync = &describe_object,
                               .current_work_stream = &current_stream};
  return nb::steal(PyCapsule_New(&api, "dlpack_exchange_api", nullptr));
#else
  return nb::none();
#endif
}

}  // namespace cuprum::python
