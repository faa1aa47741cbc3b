// Views of other libraries' arrays: DLPack, __cuda_array_interface__ and __array_interface__.
#include <cuprum/dlpack.hpp>
#include <unordered_map>

#include "bindings/cupy_array.hpp"
#include "bindings/dlpack.hpp"
#include "bindings/dlpack_exchange.hpp"
#include "bindings/strided_memory_view.hpp"

namespace cuprum::python {
namespace {

nb::object numpy_dtype(nb::handle description) { return nb::module_::import_("numpy").attr("dtype")(description); }

nb::object numpy_dtype(const std::string& name) { return numpy_dtype(nb::str(name.c_str())); }

/// Of a string as array interfaces have it. There are few of them, and NumPy takes long to read one.
nb::object dtype_of_typestr(nb::handle typestr) {
  static std::unordered_map<std::string, PyObject*>& known = *new std::unordered_map<std::string, PyObject*>;
  static nb::ft_mutex mutex;
  if (!nb::isinstance<nb::str>(typestr)) throw nb::type_error("typestr must be a str");
  const std::string text = nb::cast<std::string>(typestr);
  {
    nb::ft_lock_guard lock(mutex);
    if (const auto found = known.find(text); found != known.end()) return nb::borrow(found->second);
  }
  nb::object dtype = numpy_dtype(typestr);
  nb::ft_lock_guard lock(mutex);
  if (known.size() < 1000 && known.emplace(text, dtype.ptr()).second) dtype.inc_ref();
  return dtype;
}

/// What a dict has by that name, else None.
nb::handle item_of(const nb::dict& dict, const char* name) {
  PyObject* item = PyDict_GetItemString(dict.ptr(), name);
  return item ? item : Py_None;
}

nb::handle required_item(const nb::dict& dict, const char* name) {
  PyObject* item = PyDict_GetItemString(dict.ptr(), name);
  if (!item) throw nb::buffer_error((std::string("the array interface has no '") + name + "'").c_str());
  return item;
}

/// One of the types that ml_dtypes adds to NumPy.
nb::object extended_dtype(const char* name) {
  try {
    return numpy_dtype(nb::module_::import_("ml_dtypes").attr(name));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ImportError)) throw;
  }
  PyErr_Format(PyExc_NotImplementedError, "Support for %s requires `ml_dtypes` to be installed.", name);
  throw nb::python_error();
}

const char* extended_name(std::uint8_t code) {
  switch (code) {
    case kDLBfloat: return "bfloat16";
    case kDLFloat8_e3m4: return "float8_e3m4";
    case kDLFloat8_e4m3: return "float8_e4m3";
    case kDLFloat8_e4m3b11fnuz: return "float8_e4m3b11fnuz";
    case kDLFloat8_e4m3fn: return "float8_e4m3fn";
    case kDLFloat8_e4m3fnuz: return "float8_e4m3fnuz";
    case kDLFloat8_e5m2: return "float8_e5m2";
    case kDLFloat8_e5m2fnuz: return "float8_e5m2fnuz";
    case kDLFloat8_e8m0fnu: return "float8_e8m0fnu";
    default: return nullptr;
  }
}

bool is_one_of(int bits, std::initializer_list<int> known) {
  return std::find(known.begin(), known.end(), bits) != known.end();
}

nb::object dtype_of_tensor(const DLDataType& type) {
  const int bits = type.bits;
  if (type.lanes != 1) {
    PyErr_Format(PyExc_NotImplementedError, "vector dtypes (lanes=%d) is not supported", static_cast<int>(type.lanes));
    throw nb::python_error();
  }
  const std::string width = std::to_string(bits);
  if (type.code == kDLInt && is_one_of(bits, {8, 16, 32, 64})) return numpy_dtype("int" + width);
  if (type.code == kDLUInt && is_one_of(bits, {8, 16, 32, 64})) return numpy_dtype("uint" + width);
  if (type.code == kDLFloat && is_one_of(bits, {16, 32, 64})) return numpy_dtype("float" + width);
  if (type.code == kDLComplex && is_one_of(bits, {64, 128})) return numpy_dtype("complex" + width);
  if (type.code == kDLBool && bits == 8) return numpy_dtype(std::string("bool"));
  if (const char* name = extended_name(type.code)) return extended_dtype(name);
  throw nb::type_error(
      ("Unsupported dtype. dtype code: " + std::to_string(type.code) + " of " + width + " bits").c_str());
}

}  // namespace

void check_tensor(const DLTensor& tensor) {
  const auto refuse = [](const std::string& why) { throw nb::buffer_error(("a DLPack tensor " + why).c_str()); };
  if (tensor.ndim < 0 || tensor.ndim > StridedLayout::max_ndim) {
    refuse("of " + std::to_string(tensor.ndim) + " dimensions: there can be 0 to " +
           std::to_string(StridedLayout::max_ndim));
  }
  if (tensor.ndim > 0 && !tensor.shape) refuse("of " + std::to_string(tensor.ndim) + " dimensions has no shape");
  for (const std::int64_t extent : std::span(tensor.shape, static_cast<std::size_t>(tensor.ndim)))
    if (extent < 0) refuse("has a negative extent: " + std::to_string(extent));
  if (tensor.dtype.bits == 0 || tensor.dtype.lanes == 0) {
    refuse("of elements without bits: bits=" + std::to_string(tensor.dtype.bits) +
           ", lanes=" + std::to_string(tensor.dtype.lanes));
  }
  const auto extents = std::span(tensor.shape, static_cast<std::size_t>(tensor.ndim));
  if (!tensor.data && std::find(extents.begin(), extents.end(), 0) == extents.end())
    refuse("with elements has no data");
}

namespace {

PythonLayout layout_of_tensor(const DLTensor& tensor) {
  const int bits = tensor.dtype.bits * tensor.dtype.lanes;
  if (bits % 8 != 0) throw nb::value_error("the bits of an element must be a multiple of 8");
  const StridedLayout::Extents shape(tensor.shape, tensor.shape + tensor.ndim);
  if (!tensor.strides) return {StridedLayout(shape, bits / 8), tensor.ndim == 0};
  return {StridedLayout(shape, StridedLayout::Extents(tensor.strides, tensor.strides + tensor.ndim), bits / 8)};
}

/// What was given as stream_ptr, as a number.
nb::object stream_pointer(nb::handle stream) {
  const bool is_text = PyUnicode_Check(stream.ptr()) || PyBytes_Check(stream.ptr()) || PyByteArray_Check(stream.ptr());
  nb::object number = is_text ? nb::object() : nb::steal(PyNumber_Long(stream.ptr()));  // which would read a text
  if (number.is_valid()) return number;
  if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
  PyErr_Clear();
  throw nb::type_error(("stream_ptr must be the number of a stream, or -1, not " + type_of(stream)).c_str());
}

nb::object interned(const char* text) { return nb::steal(PyUnicode_InternFromString(text)); }

/// object.__dlpack__(stream=stream, …), by names that are made once: this is what takes the time of a view.
nb::object call_dlpack(nb::handle object, nb::handle stream, bool is_versioned) {
  static MadeOnce method, keywords, old_keywords, version;
  PyObject* const arguments[] = {
      object.ptr(), stream.ptr(),
      version.get([] { return nb::make_tuple(DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION); }).ptr()};
  const nb::handle names =
      is_versioned ? keywords.get([] { return nb::make_tuple(interned("stream"), interned("max_version")); })
                   : old_keywords.get([] { return nb::make_tuple(interned("stream")); });
  const nb::handle name = method.get([] { return interned("__dlpack__"); });
  nb::object capsule = nb::steal(PyObject_VectorcallMethod(name.ptr(), arguments, 1, names.ptr()));
  if (!capsule.is_valid()) throw nb::python_error();
  return capsule;
}

nb::object ask_for_capsule(nb::handle object, nb::handle stream) {
  try {
    return call_dlpack(object, stream, true);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;  // an exporter from before DLPack 1.0
  }
  return call_dlpack(object, stream, false);
}

/// (kind, number) as the object says it.
nb::object ask_for_device(nb::handle object) {
  static MadeOnce method;
  PyObject* const arguments[] = {object.ptr()};
  const nb::handle name = method.get([] { return interned("__dlpack_device__"); });
  nb::object device = nb::steal(PyObject_VectorcallMethod(name.ptr(), arguments, 1, nullptr));
  if (!device.is_valid()) throw nb::python_error();
  return device;
}

/// Takes the tensor out of a capsule.
template <typename Tensor>
std::shared_ptr<void> take(nb::handle capsule, const char* name, const char* used, const DLTensor** tensor) {
  auto* taken = static_cast<Tensor*>(PyCapsule_GetPointer(capsule.ptr(), name));
  PyCapsule_SetName(capsule.ptr(), used);
  *tensor = &taken->dl_tensor;
  return std::shared_ptr<Tensor>(taken, DLPackDeleter{});
}

void fill_from_capsule(PythonView& view, nb::handle capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    auto* given = static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    if (given->version.major != DLPACK_MAJOR_VERSION) {
      throw nb::buffer_error(("a DLPack tensor of version " + std::to_string(given->version.major) +
                              " can't be read: known is " + std::to_string(DLPACK_MAJOR_VERSION))
                                 .c_str());
    }
    view.readonly = (given->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
    view.memory =
        take<DLManagedTensorVersioned>(capsule, "dltensor_versioned", "used_dltensor_versioned", &view.tensor);
  } else if (PyCapsule_IsValid(capsule.ptr(), "dltensor")) {
    view.memory = take<DLManagedTensor>(capsule, "dltensor", "used_dltensor", &view.tensor);
  } else {
    throw nb::buffer_error("__dlpack__ must return a DLPack capsule that nobody has used yet");
  }
  check_tensor(*view.tensor);
  view.base = view.ptr = reinterpret_cast<std::uint64_t>(view.tensor->data) + view.tensor->byte_offset;
}

nb::dict interface_of(nb::handle object, const char* attribute, const char* name) {
  nb::object said = nb::getattr(object, attribute);
  if (!nb::isinstance<nb::dict>(said))
    throw nb::buffer_error((std::string(attribute) + " must be a dict, not " + type_of(said)).c_str());
  nb::dict interface = nb::borrow<nb::dict>(said);
  const nb::handle version = item_of(interface, "version");
  if (version.is_none() || value_from<int>(version, "the version of an array interface") < 3)
    throw nb::buffer_error((std::string("only ") + name + " v3 or above is supported").c_str());
  if (!item_of(interface, "mask").is_none()) throw nb::buffer_error("mask is not supported");
  return interface;
}

/// Shape, strides, type, address and whether it may be written.
void fill_from_interface(PythonView& view, const nb::dict& interface) {
  view.dtype = dtype_of_typestr(required_item(interface, "typestr"));
  view.layout = nb::cast(layout_from(required_item(interface, "shape"), item_of(interface, "strides"),
                                     nb::cast<std::int64_t>(view.dtype.attr("itemsize")), true));
  const nb::handle data = required_item(interface, "data");
  view.base = view.ptr = raw_value(nb::object(data[0]), "the address of the array");
  view.readonly = nb::cast<bool>(nb::bool_(nb::object(data[1])));
}

Stream stream_of(nb::handle number) {
  return Stream::from_handle(reinterpret_cast<CUstream_st*>(raw_value(number, "a stream")));
}

/// The consumer's stream waits for the producer's.
void order_streams(nb::handle producer, nb::handle consumer) {
  if (producer.is_none() || value_from<long long>(stream_pointer(consumer), "stream_ptr") == -1) return;
  const Stream first = stream_of(producer);
  const Stream then = stream_of(consumer);
  if (first == then) return;
  without_gil([&] { then.wait(first); });
}

int device_of_pointer(std::uint64_t pointer) {
  if (pointer != 0) {
    const std::optional<int> device = without_gil([&] { return Buffer::from_handle(pointer, 1).device_id(); });
    if (device) return *device;
  }
  return Device().device_id();
}

/// PyTorch's array interfaces are of version 2 and say no stream; its DLPack does.
bool is_torch_tensor(nb::handle object) {
  const nb::object module = nb::getattr(object.type(), "__module__", nb::str(""));
  return nb::isinstance<nb::str>(module) && PyUnicode_CompareWithASCIIString(module.ptr(), "torch") == 0;
}

/// A field of a view that is made when somebody asks first, and stays. Without a GIL several may do so at once.
template <typename Make>
nb::handle filled_in(nb::object& field, Make&& make) {
  static nb::ft_mutex mutex;
  {
    nb::ft_lock_guard lock(mutex);
    if (field.is_valid()) return field;
  }
  nb::object made = make();
  nb::ft_lock_guard lock(mutex);
  if (!field.is_valid()) field = std::move(made);
  return field;
}

}  // namespace

const PythonLayout& layout_of(PythonView& view) {
  const nb::handle layout = filled_in(view.layout, [&] {
    if (view.shape.is_valid()) {
      return nb::cast(layout_from(view.shape, view.strides, nb::cast<std::int64_t>(view.dtype.attr("itemsize")), true));
    }
    if (!view.tensor) throw nb::value_error("Cannot infer layout from the exporting object");
    return nb::cast(layout_of_tensor(*view.tensor));
  });
  return nb::cast<const PythonLayout&>(layout);
}

nb::object dtype_of_view(PythonView& view) {
  return nb::borrow(filled_in(
      view.dtype, [&] { return view.tensor ? dtype_of_tensor(view.tensor->dtype) : nb::object(nb::none()); }));
}

nb::object consumer_stream(int kind, nb::handle stream) {
  if (kind == kDLCUDAHost || kind == kDLCUDAManaged) {
    if (stream.is_none()) return nb::none();
  } else if (stream.is_none()) {
    throw nb::buffer_error("stream=None is ambiguous with view()");
  }
  nb::object number = stream_pointer(stream);
  const auto value = value_from<long long>(number, "stream_ptr");
  const bool is_zero = value == 0;
  const bool is_unordered = value == -1;
  const bool is_host = kind == kDLCPU || kind == kDLCUDAHost;  // NumPy has both, and takes None alone
  if (is_zero || (is_host && is_unordered)) return nb::none();
  return number;
}

std::int64_t stream_number_of(nb::handle stream) {
  if (stream.is_none()) return -1;
  if (PyLong_CheckExact(stream.ptr())) return nb::cast<std::int64_t>(stream);
  return value_from<std::int64_t>(stream_pointer(stream), "stream_ptr");
}

bool fill_quickly(PythonView& view, nb::handle object, nb::handle stream) {
  return fill_by_exchange(view, object, stream) || fill_from_cupy_array(view, object, stream);
}

PythonView view_from_dlpack(nb::handle object, nb::handle stream) {
  PythonView view;
  if (!fill_quickly(view, object, stream)) view = view_by_dlpack_methods(object, stream);
  return view;
}

PythonView view_by_dlpack_methods(nb::handle object, nb::handle stream) {
  const nb::object device = ask_for_device(object);
  const int kind = value_from<int>(nb::object(device[0]), "what __dlpack_device__ says first");
  if (!is_one_of(kind, {kDLCPU, kDLCUDA, kDLCUDAHost, kDLCUDAManaged})) throw nb::buffer_error("device not supported");
  PythonView view;
  view.device_id = kind == kDLCPU ? -1 : value_from<int>(nb::object(device[1]), "what __dlpack_device__ says second");
  view.is_device_accessible = kind != kDLCPU;
  fill_from_capsule(view, ask_for_capsule(object, consumer_stream(kind, stream)));
  view.exporting_obj = nb::borrow(object);
  return view;
}

PythonView view_from_cuda_array_interface(nb::handle object, nb::handle stream) {
  if (is_torch_tensor(object)) return view_from_dlpack(object, stream);
  const nb::dict interface = interface_of(object, "__cuda_array_interface__", "CUDA Array Interface");
  if (stream.is_none()) throw nb::buffer_error("stream=None is ambiguous with view()");
  PythonView view;
  fill_from_interface(view, interface);
  view.exporting_obj = nb::borrow(object);
  view.is_device_accessible = true;
  view.device_id = device_of_pointer(view.ptr);
  order_streams(item_of(interface, "stream"), stream);
  return view;
}

PythonView view_from_array_interface(nb::handle object) {
  if (is_torch_tensor(object)) return view_from_dlpack(object, nb::int_(-1));
  const nb::dict interface = interface_of(object, "__array_interface__", "NumPy Array Interface");
  PythonView view;
  fill_from_interface(view, interface);
  view.exporting_obj = nb::borrow(object);
  view.device_id = Device().device_id();
  return view;
}

}  // namespace cuprum::python
