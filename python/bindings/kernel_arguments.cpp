#include "bindings/kernel_arguments.hpp"

#include <complex>
#include <cstring>

#include "bindings/attributes.hpp"
#include "bindings/dlpack_exchange.hpp"
#include "bindings/tensor_map.hpp"
#include "bindings/texture.hpp"
#include "bindings/type_table.hpp"

namespace cuprum::python {
namespace {

/// How objects of a type are passed.
enum class Passing {
  buffer,
  view,
  integer,
  floating,
  complex,
  inside,
  bytes,
  tensor,
  tensor_map,
  array,
  handle,
  condition,
  texture,
  surface,
  unknown
};

/// The same, and where the bytes of an object are that has them inside of itself, as scalars of NumPy have.
struct Way {
  Passing passing = Passing::unknown;
  std::uint16_t offset = 0, size = 0;
};

/// Whether a base of the type is what a module calls by that name. The module need not be imported by us: where nobody
/// has, there are no such objects.
bool derives_from(PyTypeObject* type, const char* module, const char* name) {
  nb::object bases = nb::borrow(reinterpret_cast<PyObject*>(type)).attr("__mro__");
  for (nb::handle base : bases) {
    if (nb::cast<std::string>(nb::str(base.attr("__name__"))) != name) continue;
    if (nb::cast<std::string>(nb::str(nb::object(nb::getattr(base, "__module__", nb::str(""))))) == module) return true;
  }
  return false;
}

bool comes_from(PyTypeObject* type, std::string_view package) {
  nb::object module = nb::getattr(reinterpret_cast<PyObject*>(type), "__module__", nb::str(""));
  return nb::cast<std::string>(nb::str(module)).starts_with(package);
}

Passing look_up_passing(nb::handle argument) {
  PyTypeObject* const type = Py_TYPE(argument.ptr());
  if (nb::isinstance<Buffer>(argument)) return Passing::buffer;
  if (nb::isinstance<PythonView>(argument)) return Passing::view;
  if (nb::isinstance<graph::GraphCondition>(argument)) return Passing::condition;
  if (nb::isinstance<PythonTexture>(argument)) return Passing::texture;
  if (nb::isinstance<PythonSurface>(argument)) return Passing::surface;
  if (nb::isinstance<PythonTensorMap>(argument)) return Passing::tensor_map;
  if (derives_from(type, "numpy", "generic")) return Passing::bytes;
  if (PyLong_Check(argument.ptr())) return Passing::integer;
  if (PyFloat_Check(argument.ptr())) return Passing::floating;
  if (PyComplex_Check(argument.ptr())) return Passing::complex;
  if (derives_from(type, "_ctypes", "_CData")) return Passing::bytes;
  if (comes_from(type, "cuda.bindings")) return Passing::handle;
  if (has_exchange_functions(argument)) return Passing::tensor;
  if (has_attribute(argument, "__cuda_array_interface__") || has_attribute(argument, "data_ptr")) return Passing::array;
  return Passing::unknown;
}

/// Scalars of NumPy but records have their bytes inside, at the same place in all objects of a type.
Way look_up_way(nb::handle argument) {
  const Passing passing = look_up_passing(argument);
  Py_buffer view;
  if (passing != Passing::bytes || !derives_from(Py_TYPE(argument.ptr()), "numpy", "number") ||
      PyObject_GetBuffer(argument.ptr(), &view, PyBUF_SIMPLE) != 0) {
    PyErr_Clear();
    return {passing};
  }
  const auto offset = static_cast<const char*>(view.buf) - reinterpret_cast<const char*>(argument.ptr());
  const Py_ssize_t size = view.len, end = nb::cast<Py_ssize_t>(argument.type().attr("__basicsize__"));
  PyBuffer_Release(&view);
  if (offset < 0 || offset + size > end || size > 16) return {passing};
  return {Passing::inside, static_cast<std::uint16_t>(offset), static_cast<std::uint16_t>(size)};
}

/// Whether all objects of the type are arrays, and not this one by an attribute of its own.
bool is_array_type(nb::handle type) {
  return nb::hasattr(type, "__cuda_array_interface__") || nb::hasattr(type, "data_ptr");
}

/// Whether it is a class of the extension, which lives as long as that does.
bool is_own_type(PyTypeObject* type) {
  const nb::handle own[] = {nb::type<Buffer>(),         nb::type<ManagedBuffer>(),
                            nb::type<PythonView>(),     nb::type<graph::GraphCondition>(),
                            nb::type<PythonTexture>(),  nb::type<PythonSurface>(),
                            nb::type<PythonTensorMap>()};
  return std::any_of(std::begin(own), std::end(own),
                     [&](nb::handle each) { return each.ptr() == reinterpret_cast<PyObject*>(type); });
}

constinit TypeTable<Way> known_ways;

/// By type, found once. Types of others that arguments had are kept, so that none takes the place of another.
Way way_of(nb::handle argument) {
  PyTypeObject* const type = Py_TYPE(argument.ptr());
  if (const Way* found = known_ways.find(type)) return *found;
  const Way way = look_up_way(argument);
  if (way.passing == Passing::unknown || (way.passing == Passing::array && !is_array_type(argument.type()))) return way;
  if (known_ways.add(type, way) && !is_own_type(type)) Py_INCREF(reinterpret_cast<PyObject*>(type));
  return way;
}

/// A buffer that nobody looks into: graphs keep those, and so the array, whose memory is not the library's.
Buffer buffer_that_keeps(nb::handle array) {
  return Buffer::from_handle(reinterpret_cast<std::uintptr_t>(array.ptr()), 0, kept_object(array));
}

/// The same for a texture or surface, which graphs keep also when it is closed.
template <detail::Bindless Object>
Buffer buffer_that_keeps_object(const Object& object) {
  auto kept = detail::BindlessAccess::keep(object);
  const std::uint64_t handle = kept.handle();
  return Buffer::from_handle(handle, 0, std::make_shared<decltype(kept)>(std::move(kept)));
}

[[noreturn]] void refuse(std::size_t index, const std::string& problem) {
  throw nb::type_error(("argument " + std::to_string(index + 1) + " " + problem).c_str());
}

[[noreturn]] void refuse_type(std::size_t index, nb::handle argument) {
  if (argument.is_none()) refuse(index, "is None: pass 0 for a null pointer");
  if (PyObject_CheckBuffer(argument.ptr())) {
    refuse(index, "is of unsupported type: " + type_of(argument) +
                      ", which is memory of the host: copy it into a Buffer, and pass that");
  }
  refuse(index,
         "is of unsupported type: " + type_of(argument) +
             "; pass a Buffer, a texture, a number, a scalar of NumPy, a value of ctypes, a TensorMapDescriptor, "
             "or an array with __cuda_array_interface__");
}

[[noreturn]] void refuse_integer(std::size_t index, nb::handle number, std::size_t bytes) {
  throw nb::value_error(("argument " + std::to_string(index + 1) + " is " + nb::cast<std::string>(nb::str(number)) +
                         ", which does not fit the " + std::to_string(bytes) + " bytes that the kernel declares for it")
                            .c_str());
}

}  // namespace

template <typename T>
inline void KernelArgumentList::put(std::size_t index, const T& value) {
  static_assert(sizeof(T) <= sizeof(Value));
  std::memcpy(values_[index].bytes, &value, sizeof value);
  addresses_[index] = values_[index].bytes;
  sizes_[index] = sizeof value;
}

inline void KernelArgumentList::put_inside(std::size_t index, nb::handle scalar) {
  addresses_[index] = reinterpret_cast<const char*>(scalar.ptr()) + scalar_offset_;
  sizes_[index] = scalar_size_;
}

inline bool KernelArgumentList::is_scalar(nb::handle argument) {
  PyTypeObject* const type = Py_TYPE(argument.ptr());
  const Way* way = known_ways.find(type);
  if (!way || way->passing != Passing::inside) return false;
  scalar_type_ = type;
  scalar_offset_ = way->offset;
  scalar_size_ = way->size;
  return true;
}

KernelArgumentList::KernelArgumentList(const Kernel& kernel, PyObject* const* arguments, std::size_t count)
    : count_(count) {
  if (count > few) {
    many_values_ = std::make_unique<Value[]>(count);
    many_addresses_ = std::make_unique<const void*[]>(count);
    many_sizes_ = std::make_unique<std::size_t[]>(count);
    values_ = many_values_.get();
    addresses_ = many_addresses_.get();
    sizes_ = many_sizes_.get();
  }
  const std::optional<std::span<const ParameterInfo>> declared = kernel.known_arguments_info();
  try {
    for (std::size_t i = 0; i < count; ++i) {
      // The usual ones are not worth a call of a function.
      if (const Buffer* buffer = exactly<Buffer>(arguments[i])) {
        put(i, detail::address_of(*buffer));
        continue;
      }
      if (Py_TYPE(arguments[i]) == scalar_type_ || is_scalar(arguments[i])) {
        put_inside(i, arguments[i]);
        continue;
      }
      std::optional<std::size_t> size;
      if (declared && i < declared->size()) size = (*declared)[i].size;
      add(i, arguments[i], size);
    }
  } catch (...) {
    for (Py_buffer& view : views_) PyBuffer_Release(&view);
    throw;
  }
}

KernelArgumentList::~KernelArgumentList() {
  for (Py_buffer& view : views_) PyBuffer_Release(&view);
}

void KernelArgumentList::add(std::size_t index, nb::handle argument, std::optional<std::size_t> declared) {
  if (PyLong_CheckExact(argument.ptr())) return put_integer(index, argument, declared);
  const Way way = way_of(argument);
  switch (way.passing) {
    case Passing::inside:
      addresses_[index] = reinterpret_cast<const char*>(argument.ptr()) + way.offset;
      sizes_[index] = way.size;
      return;
    case Passing::buffer: return put(index, detail::address_of(*nb::inst_ptr<Buffer>(argument)));
    case Passing::view: return put(index, nb::inst_ptr<PythonView>(argument)->ptr);
    case Passing::condition:
      return put(index, static_cast<std::uint64_t>(nb::cast<const graph::GraphCondition&>(argument).handle()));
    case Passing::texture:
      return put(index, detail::BindlessAccess::handle(nb::inst_ptr<PythonTexture>(argument)->texture));
    case Passing::surface:
      return put(index, detail::BindlessAccess::handle(nb::inst_ptr<PythonSurface>(argument)->surface));
    case Passing::integer: return put_integer(index, argument, declared);
    case Passing::floating: return put_float(index, argument, declared);
    case Passing::complex: return put_complex(index, argument);
    case Passing::bytes: return put_bytes_of(index, argument);
    case Passing::tensor: return put_tensor(index, argument);
    case Passing::tensor_map:
      addresses_[index] = &nb::inst_ptr<PythonTensorMap>(argument)->map.opaque();
      sizes_[index] = sizeof(OpaqueTensorMap);
      return;
    case Passing::array: return put_array(index, argument);
    case Passing::handle: return put(index, raw_value(argument, "a handle"));
    case Passing::unknown: break;
  }
  refuse_type(index, argument);
}

void KernelArgumentList::put_integer(std::size_t index, nb::handle number, std::optional<std::size_t> declared) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (value == -1 && PyErr_Occurred()) throw nb::python_error();
  const std::size_t bytes = declared.value_or(8);
  if (bytes > 8 || (bytes & (bytes - 1)) != 0 || bytes == 0) {
    refuse(index, "is an int, but the kernel declares " + std::to_string(bytes) +
                      " bytes for it: pass a structure of ctypes or a record of NumPy");
  }
  if (overflow < 0) refuse_integer(index, number, bytes);
  if (overflow > 0) {
    const unsigned long long large = PyLong_AsUnsignedLongLong(number.ptr());
    if (PyErr_Occurred() || bytes < 8) {
      PyErr_Clear();
      refuse_integer(index, number, bytes);
    }
    return put(index, large);
  }
  const int bits = static_cast<int>(bytes) * 8;
  if (bits < 64 && (value < -(1LL << (bits - 1)) || value >= (1LL << bits))) refuse_integer(index, number, bytes);
  put(index, value);  // its low bytes come first
  sizes_[index] = bytes;
}

void KernelArgumentList::put_float(std::size_t index, nb::handle number, std::optional<std::size_t> declared) {
  if (declared && *declared < sizeof(double)) {
    refuse(index, "is a float, which has 8 bytes, but the kernel declares " + std::to_string(*declared) +
                      ": pass numpy.float32(x) or ctypes.c_float(x) for a float of 4 bytes");
  }
  put(index, PyFloat_AsDouble(number.ptr()));
}

void KernelArgumentList::put_complex(std::size_t index, nb::handle number) {
  put(index, std::complex<double>(PyComplex_RealAsDouble(number.ptr()), PyComplex_ImagAsDouble(number.ptr())));
}

void KernelArgumentList::put_bytes_of(std::size_t index, nb::handle object) {
  Py_buffer view;
  if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_SIMPLE) == 0) {
    views_.push_back(view);
    addresses_[index] = view.buf;
    sizes_[index] = static_cast<std::size_t>(view.len);
    return;
  }
  PyErr_Clear();  // a scalar of a type that NumPy has from somebody else, such as bfloat16
  nb::object bytes = object.attr("tobytes")();
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(bytes.ptr(), &data, &size) != 0) throw nb::python_error();
  addresses_[index] = data;
  sizes_[index] = static_cast<std::size_t>(size);
  objects_.push_back(std::move(bytes));
}

void KernelArgumentList::put_tensor(std::size_t index, nb::handle object) {
  const std::optional<DLTensor> tensor = tensor_by_exchange(object);
  if (!tensor) return put_array(index, object);
  if (tensor->device.device_type == kDLCPU) refuse(index, "is a tensor on the host: move it to the device first");
  put(index, reinterpret_cast<std::uint64_t>(tensor->data) + tensor->byte_offset);
}

void KernelArgumentList::put_array(std::size_t index, nb::handle object) {
  if (has_attribute(object, "data_ptr") && has_attribute(object, "is_cuda")) {  // PyTorch's tensors
    if (!nb::cast<bool>(object.attr("is_cuda"))) refuse(index, "is a tensor on the host: move it to the device first");
    return put(index, raw_value(nb::object(object.attr("data_ptr")()), "data_ptr()"));
  }
  const nb::object interface = attribute_or_none(object, "__cuda_array_interface__");
  if (interface.is_none()) refuse_type(index, object);
  if (!nb::isinstance<nb::dict>(interface) || nb::object(interface.attr("get")("data")).is_none())
    refuse(index,
           "has a __cuda_array_interface__ that is no dict with 'data', the address and whether it is read-only");
  put(index, raw_value(nb::object(interface["data"][0]), "the address in __cuda_array_interface__"));
}

std::vector<Buffer> buffers_among(std::span<PyObject* const> arguments) {
  std::vector<Buffer> buffers;
  for (const nb::handle argument : arguments) {
    switch (way_of(argument).passing) {
      case Passing::buffer: buffers.push_back(nb::cast<const Buffer&>(argument)); break;
      case Passing::view:
      case Passing::tensor:
      case Passing::array: buffers.push_back(buffer_that_keeps(argument)); break;
      case Passing::texture:
        buffers.push_back(buffer_that_keeps_object(nb::inst_ptr<PythonTexture>(argument)->texture));
        break;
      case Passing::surface:
        buffers.push_back(buffer_that_keeps_object(nb::inst_ptr<PythonSurface>(argument)->surface));
        break;
      // Not the map itself, which may move to other memory.
      case Passing::tensor_map:
        buffers.push_back(buffer_that_keeps(nb::inst_ptr<PythonTensorMap>(argument)->view));
        break;
      default: break;
    }
  }
  return buffers;
}

}  // namespace cuprum::python
