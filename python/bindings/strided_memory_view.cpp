// Views: see <cuprum/strided_memory_view.hpp>.
#include "bindings/strided_memory_view.hpp"

#include <cuprum/dlpack.hpp>

#include "bindings/attributes.hpp"
#include "bindings/class_method.hpp"
#include "bindings/dlpack.hpp"
#include "bindings/dlpack_exchange.hpp"
#include "bindings/memory_resource.hpp"

template <>
void nanobind::detail::wrap_destruct<cuprum::python::PythonView>(void* object) noexcept {
  auto* view = static_cast<cuprum::python::PythonView*>(object);
  std::shared_ptr<void> memory = std::move(view->memory);
  view->~PythonView();
  if (!memory) return;
  cuprum::python::GilRelease released;  // giving memory back may wait
  memory.reset();
}

namespace cuprum::python {
namespace {

/// Whether it has an attribute of a name that is made once.
bool has(nb::handle object, MadeOnce& name, const char* text) {
  const nb::handle made = name.get([&] { return nb::steal(PyUnicode_InternFromString(text)); });
  return has_attribute(object, made);
}

bool has_dlpack(nb::handle object) {
  static MadeOnce dlpack, dlpack_device, interface;
  if (has_exchange_functions(object)) return true;
  if (has(object, dlpack, "__dlpack__") && has(object, dlpack_device, "__dlpack_device__")) return true;
  if (has(object, interface, "__cuda_array_interface__")) return false;
  throw nb::buffer_error(
      ("the input object does not support any data exchange protocol: obj is a " + type_of(object)).c_str());
}

/// The view is filled in where it stays: moving one takes as long as filling it.
nb::object view_from_any(nb::handle cls, nb::handle object, nb::handle stream) {
  nb::object made = object_of_class(cls, PythonView());
  PythonView& view = *nb::inst_ptr<PythonView>(made);
  if (!fill_quickly(view, object, stream)) {
    view = has_dlpack(object) ? view_by_dlpack_methods(object, stream) : view_from_cuda_array_interface(object, stream);
  }
  view.stream = stream_number_of(stream);
  return made;
}

/// A function that makes views for a stream, and they remember it.
template <PythonView (*make)(nb::handle, nb::handle)>
nb::object for_stream(nb::handle cls, nb::handle object, nb::handle stream) {
  PythonView view = make(object, stream);
  view.stream = stream_number_of(stream);
  return object_of_class(cls, std::move(view));
}

Stream stream_by_number(std::int64_t number) {
  return Stream::from_handle(reinterpret_cast<CUstream_st*>(static_cast<std::uintptr_t>(number)));
}

/// Makes the stream of who takes the elements wait for the work on them that is known of.
void order_after_view(const PythonView& view, std::int64_t taker) {
  if (taker == -1) return;
  if (view.stream != -1 && view.stream != taker) {
    const Stream first = stream_by_number(view.stream == 0 ? 1 : view.stream);
    const Stream then = stream_by_number(taker);
    without_gil([&] { then.wait(first); });
  }
  if (nb::isinstance<Buffer>(view.exporting_obj)) {
    const Buffer& buffer = *nb::inst_ptr<Buffer>(view.exporting_obj);
    // An export that nobody takes does it. Memory that is only wrapped knows no stream, nor does that of a closed one.
    if (buffer.handle() != 0 && buffer.memory_resource()) without_gil([&] { to_dlpack(buffer, {.stream = taker}); });
  }
}

void warn_deprecated(const std::string& message) {
  if (PyErr_WarnEx(PyExc_DeprecationWarning, message.c_str(), 1) != 0) throw nb::python_error();
}

void make_view(PythonView* self, nb::handle object, nb::handle stream) {
  if (object.is_none()) {
    warn_deprecated(
        "Constructing an empty StridedMemoryView is deprecated; use one of the classmethods `from_dlpack`, "
        "`from_cuda_array_interface` or `from_any_interface`");
    new (self) PythonView();
    return;
  }
  const bool is_dlpack = has_dlpack(object);
  warn_deprecated(std::string("Constructing a StridedMemoryView directly from a ") +
                  (is_dlpack ? "DLPack" : "CUDA-array-interface") +
                  "-supporting object is deprecated; use `StridedMemoryView.from_any_interface`");
  new (self) PythonView(is_dlpack ? view_from_dlpack(object, stream) : view_from_cuda_array_interface(object, stream));
  self->stream = stream_number_of(stream);
}

nb::object dtype_from(nb::handle given) {
  if (given.is_none()) return nb::none();
  try {
    return nb::module_::import_("numpy").attr("dtype")(given);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    nb::raise_from(error, PyExc_TypeError, "dtype must be what numpy.dtype() takes, not %s",
                   nb::cast<std::string>(nb::repr(given)).c_str());
  }
}

void check_itemsize(nb::handle dtype, std::int64_t itemsize) {
  if (dtype.is_none()) return;
  const auto size = nb::cast<std::int64_t>(dtype.attr("itemsize"));
  if (size == itemsize) return;
  throw nb::value_error(("The dtype's itemsize (" + std::to_string(size) + ") does not match the layout's itemsize (" +
                         std::to_string(itemsize) + ").")
                            .c_str());
}

/// Memory of the library's own has an end that is known.
void check_fits(const Buffer& buffer, const StridedLayout& layout) {
  const std::int64_t needed = layout.required_size_in_bytes();
  if (!buffer.memory_resource() || static_cast<std::int64_t>(buffer.size()) >= needed) return;
  throw nb::value_error(("Buffer size is too small for the layout. Expected at least " + std::to_string(needed) +
                         " bytes, got " + std::to_string(buffer.size()) + " bytes.")
                            .c_str());
}

PythonView view_from_buffer(nb::handle buffer, nb::handle shape, nb::handle strides, nb::handle itemsize,
                            nb::handle dtype, bool is_readonly) {
  if (!nb::isinstance<Buffer>(buffer))
    throw nb::type_error(("buffer must be a Buffer, not " + type_of(buffer)).c_str());
  if (itemsize.is_none() && dtype.is_none()) throw nb::value_error("Either itemsize or dtype must be specified");
  const nb::object type = dtype_from(dtype);
  const nb::object wanted = type.is_none() ? nb::borrow(itemsize) : nb::object(type.attr("itemsize"));
  const auto size = value_from<std::int64_t>(wanted, "itemsize");
  if (!itemsize.is_none() && value_from<std::int64_t>(itemsize, "itemsize") != size) {
    throw nb::value_error(("itemsize (" + nb::cast<std::string>(nb::str(itemsize)) +
                           ") does not match dtype.itemsize (" + std::to_string(size) + ")")
                              .c_str());
  }
  const Buffer& memory = *nb::inst_ptr<Buffer>(buffer);
  const PythonLayout layout = layout_from(shape, strides, size, false);
  check_fits(memory, layout.layout);
  PythonView view;
  view.base = view.ptr = memory.handle();
  view.device_id = nb::cast<int>(buffer.attr("device_id"));
  view.is_device_accessible = nb::cast<bool>(buffer.attr("is_device_accessible"));
  view.readonly = is_readonly;
  view.exporting_obj = nb::borrow(buffer);
  view.memory = std::make_shared<Buffer>(memory.slice(0, memory.size()));  // also when the buffer is closed
  view.dtype = type;
  view.layout = nb::cast(layout);
  return view;
}

/// The same memory with another layout, another type, or both.
nb::object other_view(Self<PythonView> self, nb::handle layout, nb::handle dtype) {
  if (layout.is_none() && dtype.is_none()) return nb::borrow(self);
  PythonView& view = *self;
  if (!layout.is_none() && !nb::isinstance<PythonLayout>(layout))
    throw nb::type_error(("layout must be a StridedLayout, not " + type_of(layout)).c_str());
  layout_of(view);
  PythonView other = view;
  other.layout = layout.is_none() ? view.layout : nb::borrow(layout);
  other.dtype = dtype.is_none() ? dtype_of_view(view) : dtype_from(dtype);
  const StridedLayout& wanted = nb::cast<const PythonLayout&>(other.layout).layout;
  check_itemsize(other.dtype, wanted.itemsize());
  if (!view.tensor && nb::isinstance<Buffer>(view.exporting_obj))
    check_fits(*nb::inst_ptr<Buffer>(view.exporting_obj), wanted);
  other.ptr = view.base + static_cast<std::uint64_t>(wanted.slice_offset_in_bytes());
  return object_of_class(self.object().type(), std::move(other));
}

/// Whether a graph allocates the memory. It frees that where the program says, which it would not if it kept it.
bool is_of_a_graph(const PythonView& view) {
  if (!nb::isinstance<Buffer>(view.exporting_obj)) return false;
  const Buffer& buffer = *nb::inst_ptr<Buffer>(view.exporting_obj);
  const std::optional<MemoryResource> resource =
      buffer.handle() == 0 ? std::nullopt : buffer.memory_resource();  // closed, it is not asked
  return resource && resource->as<GraphMemoryResource>();
}

/// The view for the library, which copies with it. Its memory must stay until the copy has run; graphs see to that.
StridedMemoryView native_view(nb::handle object) {
  PythonView& view = *nb::inst_ptr<PythonView>(object);
  const StridedLayout& layout = layout_of(view).layout;
  std::shared_ptr<void> owner = is_of_a_graph(view) ? nullptr : kept_object(object);
  return StridedMemoryView::from_pointer(view.base, layout, {.is_readonly = view.readonly}, std::move(owner));
}

/// Page-locked memory is used when the copy runs, and goes with its object, whatever is queued. Memory of devices is
/// freed in the order of a stream.
void keep_memory_of_host(const StridedMemoryView& view, nb::handle object, const Stream& queue) {
  if (view.memory_kind() == MemoryKind::device) return;
  without_gil([&, kept = kept_object(object)]() mutable { queue.keep(std::move(kept)); });
}

void copy_views(nb::handle from, nb::handle to, nb::handle stream, nb::handle blocking, const char* function) {
  if (stream.is_none()) {
    PyErr_Format(PyExc_NotImplementedError, "%s without a stream is not supported: pass one", function);
    throw nb::python_error();
  }
  for (nb::handle view : {from, to}) {
    if (!nb::isinstance<PythonView>(view))
      throw nb::type_error(("other must be a StridedMemoryView, not " + type_of(view)).c_str());
  }
  PythonView& source = *nb::inst_ptr<PythonView>(from);
  PythonView& destination = *nb::inst_ptr<PythonView>(to);
  const nb::object types[] = {dtype_of_view(source), dtype_of_view(destination)};
  if (!types[0].is_none() && !types[1].is_none() && !types[0].equal(types[1]))
    throw nb::value_error("the dtypes of both views must be equal: view() one as the other's");
  const Stream queue = own_stream_from(stream);
  const StridedCopyOptions options{.blocking = value_from<std::optional<bool>>(blocking, "blocking")};
  const StridedMemoryView reading = native_view(from);
  const StridedMemoryView writing = native_view(to);
  without_gil([&] { writing.copy_from(reading, queue, options); });
  if (options.blocking != false) return;
  keep_memory_of_host(reading, from, queue);
  keep_memory_of_host(writing, to, queue);
}

/// "numpy.dtype", "NoneType", "cuprum._core.Buffer".
std::string class_in_words(nb::handle object) {
  const nb::handle type = object.type();
  const std::string module = nb::cast<std::string>(nb::str(nb::object(type.attr("__module__"))));
  const std::string name = nb::cast<std::string>(nb::str(nb::object(type.attr("__name__"))));
  return module == "builtins" ? name : module + "." + name;
}

std::string view_in_words(PythonView& self) {
  const PythonLayout& layout = layout_of(self);
  const auto text = [](const nb::object& value) { return nb::cast<std::string>(nb::repr(value)); };
  const char* gap = ",\n                  ";
  return "StridedMemoryView(ptr=" + std::to_string(self.ptr) + gap +
         "shape=" + text(tuple_of_numbers(layout.layout.shape())) + gap + "strides=" + text(strides_of(layout)) + gap +
         "itemsize=" + std::to_string(layout.layout.itemsize()) + gap + "dtype=" + class_in_words(dtype_of_view(self)) +
         gap + "device_id=" + std::to_string(self.device_id) + gap +
         "is_device_accessible=" + (self.is_device_accessible ? "True" : "False") + gap +
         "readonly=" + (self.readonly ? "True" : "False") + gap +
         "exporting_obj=" + class_in_words(self.exporting_obj.is_valid() ? self.exporting_obj : nb::none()) + ")";
}

// The collector finds cycles through the exporting object.

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const PythonView& view = *nb::inst_ptr<PythonView>(self);
  Py_VISIT(view.exporting_obj.ptr());
  return 0;
}

int clear(PyObject* self) {
  nb::inst_ptr<PythonView>(self)->exporting_obj.reset();
  return 0;
}

/// Where a tensor is that the view holds.
void place_at(PythonView& view, const DLTensor& tensor) {
  check_tensor(tensor);
  view.tensor = &tensor;
  view.base = view.ptr = reinterpret_cast<std::uint64_t>(tensor.data) + tensor.byte_offset;
  view.is_device_accessible = tensor.device.device_type != kDLCPU;
  view.device_id = view.is_device_accessible ? tensor.device.device_id : -1;
}

PyType_Slot view_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(&traverse)}, {Py_tp_clear, reinterpret_cast<void*>(&clear)}, {0, nullptr}};

void bind_fields(nb::class_<PythonView>& bound) {
  bound.def_ro("ptr", &PythonView::ptr, "The address of the element at index (0, 0, …).")
      .def_ro("device_id", &PythonView::device_id, "The device that the memory is on; -1 for the host's.")
      .def_ro("is_device_accessible", &PythonView::is_device_accessible, "Whether kernels can use it.")
      .def_ro("readonly", &PythonView::readonly, "Whether it must not be written.")
      .def_prop_ro(
          "exporting_obj",
          [](const PythonView& self) { return self.exporting_obj.is_valid() ? self.exporting_obj : nb::none(); },
          "The object whose memory this is.")
      .def_prop_ro(
          "_layout",
          [](PythonView& self) {
            layout_of(self);
            return self.layout;
          },
          "How the elements lie in the memory.")
      .def_prop_ro(
          "size", [](PythonView& self) { return layout_of(self).layout.volume(); }, "The number of elements.")
      .def_prop_ro(
          "shape", [](PythonView& self) { return tuple_of_numbers(layout_of(self).layout.shape()); },
          "The extent of each axis.")
      .def_prop_ro(
          "strides", [](PythonView& self) { return strides_of(layout_of(self)); },
          "In elements, not bytes; None when nobody gave any: dense in C order.")
      .def_prop_ro("dtype", &dtype_of_view, "A numpy.dtype; None when nobody said.");
}

}  // namespace

TensorCopy::TensorCopy(const DLTensor& other) : tensor(other) {
  std::copy_n(other.shape, other.ndim, extents);
  tensor.shape = extents;
  if (!other.strides) return;
  tensor.strides = extents + other.ndim;
  std::copy_n(other.strides, other.ndim, tensor.strides);
}

PythonView view_of_tensor(DLManagedTensorVersioned* tensor) {
  PythonView view;
  view.memory = std::shared_ptr<DLManagedTensorVersioned>(tensor, DLPackDeleter{});
  place_at(view, tensor->dl_tensor);
  view.readonly = (tensor->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
  return view;
}

void fill_from_copy(PythonView& view, const DLTensor& tensor) {
  view.copy = std::make_shared<const TensorCopy>(tensor);
  place_at(view, view.copy->tensor);
}

void bind_strided_memory_view(nb::module_& module) {
  nb::class_<PythonView> bound(module, "StridedMemoryView", nb::is_weak_referenceable(), nb::type_slots(view_slots),
                               "Memory of another library as an array: where it is, and how its elements lie.\n\n"
                               ">>> import numpy\n"
                               ">>> from cuprum.utils import StridedMemoryView\n"
                               ">>> view = StridedMemoryView.from_any_interface(numpy.zeros((4, 6))[::2], -1)\n"
                               ">>> view.shape, view.strides, view.dtype\n"
                               "((2, 6), (12, 1), dtype('float64'))\n");
  bound.def("__init__", &make_view, "obj"_a = nb::none(), "stream_ptr"_a = nb::none())
      .def_static("from_dlpack", &for_stream<view_from_dlpack>, "cls"_a, "obj"_a.none(), "stream_ptr"_a = nb::none(),
                  "Of an object with __dlpack__. The stream at `stream_ptr` is made to wait for the object's work; -1 "
                  "asks for no order.")
      .def_static("from_cuda_array_interface", &for_stream<view_from_cuda_array_interface>, "cls"_a, "obj"_a.none(),
                  "stream_ptr"_a = nb::none(), "Of an object with __cuda_array_interface__, in the same way.")
      .def_static(
          "from_array_interface",
          [](nb::handle cls, nb::handle object) { return object_of_class(cls, view_from_array_interface(object)); },
          "cls"_a, "obj"_a.none(), "Of an object with __array_interface__, which is memory of the host.")
      .def_static("from_any_interface", &view_from_any, "cls"_a, "obj"_a.none(), "stream_ptr"_a = nb::none(),
                  "By DLPack, or else by __cuda_array_interface__.")
      .def_static(
          "from_buffer",
          [](nb::handle cls, nb::handle buffer, nb::handle shape, nb::handle strides, nb::handle itemsize,
             nb::handle dtype, bool is_readonly) {
            return object_of_class(cls, view_from_buffer(buffer, shape, strides, itemsize, dtype, is_readonly));
          },
          "cls"_a, "buffer"_a.none(), "shape"_a, "strides"_a = nb::none(), nb::kw_only(), "itemsize"_a = nb::none(),
          "dtype"_a = nb::none(), "is_readonly"_a = false, "Of a Buffer, with strides in elements. Orders nothing.")
      .def("view", &other_view, "layout"_a = nb::none(), "dtype"_a = nb::none(),
           "The same memory with another layout, another type, or both.")
      .def(
          "as_tensor_map",
          [](Self<PythonView> self, nb::handle box_dim, nb::handle options, nb::handle element_strides,
             nb::handle data_type, nb::handle interleave, nb::handle swizzle, nb::handle l2_promotion,
             nb::handle oob_fill) -> nb::object {
            return nb::module_::import_("cuprum._tensor_map")
                .attr("as_tensor_map")(self.object(), box_dim, options, element_strides, data_type, interleave, swizzle,
                                       l2_promotion, oob_fill);
          },
          "box_dim"_a = nb::none(), nb::kw_only(), "options"_a = nb::none(), "element_strides"_a = nb::none(),
          "data_type"_a = nb::none(), "interleave"_a = nb::none(), "swizzle"_a = nb::none(),
          "l2_promotion"_a = nb::none(), "oob_fill"_a = nb::none(),
          "A description of the view for copies of tiles by the copy engine of GPUs since compute capability 9.0. Give "
          "`box_dim`, the tile's shape, and what else is wanted, or all of it as TensorMapDescriptorOptions. The "
          "descriptor keeps the memory, also when its buffer is closed.")
      .def(
          "copy_from",
          [](Self<PythonView> self, nb::handle other, nb::handle stream, nb::handle, nb::handle blocking) {
            copy_views(other, self, stream, blocking, "copy_from");
          },
          "other"_a.none(), "stream"_a.none(), "allocator"_a = nb::none(), "blocking"_a = nb::none(),
          "Copies all elements of `other`, of the same shape and type, between any kinds of memory. `blocking` None: "
          "not between two views of device memory, else yes. A copy of host memory that does not block keeps both "
          "views "
          "until it has run.")
      .def(
          "copy_to",
          [](Self<PythonView> self, nb::handle other, nb::handle stream, nb::handle, nb::handle blocking) {
            copy_views(self, other, stream, blocking, "copy_to");
          },
          "other"_a.none(), "stream"_a = nb::none(), "allocator"_a = nb::none(), "blocking"_a = nb::none(),
          "The same in the other direction.")
      .def(
          "__dlpack__",
          [](Self<PythonView> self, nb::handle stream, nb::handle max_version, nb::handle dl_device, nb::handle copy) {
            const DLPackRequest request = dlpack_request(device_of_view(*self), stream, max_version, dl_device, copy);
            order_after_view(*self, request.options.stream);
            return capsule_of_view(self, request.is_versioned);
          },
          nb::kw_only(), "stream"_a = nb::none(), "max_version"_a = nb::none(), "dl_device"_a = nb::none(),
          "copy"_a = nb::none(),
          "The elements as a DLPack capsule. `stream` is made to wait for the work queued on the stream that the view "
          "was "
          "made for, which must be there still, and for that on the stream of the Buffer that it is of; None is the "
          "legacy default stream, -1 asks for no order.")
      .def("__dlpack_device__", &device_of_view, "The kind and number of the device in DLPack's terms.")
      .def("__repr__", &view_in_words);
  for (const char* name :
       {"from_dlpack", "from_cuda_array_interface", "from_array_interface", "from_any_interface", "from_buffer"})
    make_class_method(bound, name);
  bind_fields(bound);
  if (nb::object api = exchange_api(); !api.is_none()) {
    bound.attr("__dlpack_c_exchange_api__") = api;
    bound.attr("__c_dlpack_exchange_api__") = api;
  }
  module.def("_has_dlpack", &has_dlpack, nb::arg().none());
}

}  // namespace cuprum::python
