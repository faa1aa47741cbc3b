// Tensor maps: see <cuprum/tensor_map.hpp>. What Python's arguments mean is said in cuprum/_tensor_map.py.
#include "bindings/tensor_map.hpp"

#include "bindings/strided_memory_view.hpp"

namespace cuprum::python {
namespace {

using Numbers = std::vector<std::int64_t>;

nb::module_ python_part() { return nb::module_::import_("cuprum._tensor_map"); }

/// For the library, which needs no more than the place and the layout. The memory is kept by the object of Python.
StridedMemoryView native_view(nb::handle view) {
  PythonView& given = *nb::inst_ptr<PythonView>(view);
  return StridedMemoryView::from_pointer(given.base, layout_of(given).layout, {.is_readonly = given.readonly});
}

/// What all kinds have: element strides, or None, and the numbers of the members of five enumerations.
template <typename Options>
void put_common(Options& options, nb::handle element_strides, nb::handle members) {
  const auto numbers = nb::cast<std::vector<int>>(members);
  options.element_strides = value_from<std::optional<Numbers>>(element_strides, "element_strides");
  options.data_type = static_cast<TensorMapDataType>(numbers.at(0));
  options.interleave = static_cast<TensorMapInterleave>(numbers.at(1));
  options.swizzle = static_cast<TensorMapSwizzle>(numbers.at(2));
  options.l2_promotion = static_cast<TensorMapL2Promotion>(numbers.at(3));
  options.oob_fill = static_cast<TensorMapOOBFill>(numbers.at(4));
}

template <typename Options>
PythonTensorMap make_map(nb::handle view, const Options& options,
                         TensorMapDescriptor (*make)(const StridedMemoryView&, const Options&)) {
  const StridedMemoryView native = native_view(view);
  return {without_gil([&] { return make(native, options); }), nb::borrow(view)};
}

PythonTensorMap tiled(nb::handle view, nb::handle box_dim, nb::handle element_strides, nb::handle members) {
  TensorMapDescriptorOptions options;
  options.box_dim = value_from<Numbers>(box_dim, "box_dim");
  put_common(options, element_strides, members);
  return make_map(view, options, &TensorMapDescriptor::from_tiled);
}

PythonTensorMap im2col(nb::handle view, nb::handle lower, nb::handle upper, nb::handle channels, nb::handle pixels,
                       nb::handle element_strides, nb::handle members) {
  TensorMapIm2ColOptions options;
  options.pixel_box_lower_corner = value_from<Numbers>(lower, "pixel_box_lower_corner");
  options.pixel_box_upper_corner = value_from<Numbers>(upper, "pixel_box_upper_corner");
  options.channels_per_pixel = value_from<std::int64_t>(channels, "channels_per_pixel");
  options.pixels_per_column = value_from<std::int64_t>(pixels, "pixels_per_column");
  put_common(options, element_strides, members);
  return make_map(view, options, &TensorMapDescriptor::from_im2col);
}

PythonTensorMap im2col_wide(nb::handle view, nb::handle lower, nb::handle upper, nb::handle channels, nb::handle pixels,
                            int mode, nb::handle element_strides, nb::handle members) {
  TensorMapIm2ColWideOptions options;
  options.pixel_box_lower_corner_width = value_from<std::int64_t>(lower, "pixel_box_lower_corner_width");
  options.pixel_box_upper_corner_width = value_from<std::int64_t>(upper, "pixel_box_upper_corner_width");
  options.channels_per_pixel = value_from<std::int64_t>(channels, "channels_per_pixel");
  options.pixels_per_column = value_from<std::int64_t>(pixels, "pixels_per_column");
  options.mode = static_cast<TensorMapIm2ColWideMode>(mode);
  put_common(options, element_strides, members);
  return make_map(view, options, &TensorMapDescriptor::from_im2col_wide);
}

void replace_address(PythonTensorMap& self, nb::handle tensor) {
  nb::object view = python_part().attr("_view_for")(tensor, self.map.device().device_id(), "replace_address");
  const StridedMemoryView native = native_view(view);
  without_gil([&] { self.map.replace_address(native); });
  std::swap(self.view, view);
}

std::string in_words(const PythonTensorMap& self) {
  std::ostringstream out;
  out << self.map;
  return std::move(out).str();
}

// The collector finds cycles through the view.

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  Py_VISIT(nb::inst_ptr<PythonTensorMap>(self)->view.ptr());
  return 0;
}

int clear(PyObject* self) {
  nb::inst_ptr<PythonTensorMap>(self)->view.reset();
  return 0;
}

PyType_Slot map_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(&traverse)}, {Py_tp_clear, reinterpret_cast<void*>(&clear)}, {0, nullptr}};

/// A function of the module in Python as a static method that the class has under cuda.core's name.
template <typename Bound>
void def_python(Bound& bound, const char* name, const char* function, const char* doc) {
  bound.def_static(
      name,
      [function](const nb::args& args, const nb::kwargs& kwargs) -> nb::object {
        return python_part().attr(function)(*args, **kwargs);
      },
      doc);
}

}  // namespace

void bind_tensor_map(nb::module_& module) {
  nb::class_<PythonTensorMap> bound(
      module, "TensorMapDescriptor", nb::is_weak_referenceable(), nb::type_slots(map_slots),
      "A description of an array for the copy engine of GPUs since compute capability 9.0, which moves tiles of it "
      "between global and shared memory. Kernels take it as an argument: ``const __grid_constant__ CUtensorMap "
      "map``.\n\n"
      ">>> import numpy\n"
      ">>> from cuprum import Device\n"
      ">>> from cuprum.utils import StridedMemoryView\n"
      ">>> device = Device(); device.set_current()\n"
      ">>> buffer = device.allocate(64 * 64 * 4, stream=device.create_stream())\n"
      ">>> view = StridedMemoryView.from_buffer(buffer, (64, 64), dtype=numpy.float32)\n"
      ">>> view.as_tensor_map((32, 32))\n"
      "TensorMapDescriptor(tiled, rank=2, dtype=FLOAT32, swizzle=NONE)\n");
  forbid_construction(bound,
                      "TensorMapDescriptor cannot be instantiated directly. Use StridedMemoryView.as_tensor_map() "
                      "instead.");
  bound
      .def("replace_address", &replace_address, "tensor"_a.none(),
           "Makes it a description of other memory, with everything else as it is: for a tensor that moved. Takes a "
           "StridedMemoryView, or an object with __dlpack__ or __cuda_array_interface__.")
      .def_prop_ro(
          "device", [](const PythonTensorMap& self) { return device_object(self.map.device()); },
          "The device that it was made for.")
      .def("__repr__", &in_words);
  def_python(bound, "_from_tiled", "from_tiled", "What StridedMemoryView.as_tensor_map does.");
  def_python(bound, "_from_im2col", "from_im2col",
             "Of a view with the axes N, D, H, W, C, for columns of a convolution.");
  def_python(bound, "_from_im2col_wide", "from_im2col_wide",
             "The same along the width alone, on GPUs since compute capability 10.0.");
  module.def("_encode_tiled", &tiled, nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
  module.def("_encode_im2col", &im2col, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
             nb::arg());
  module.def("_encode_im2col_wide", &im2col_wide, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
             nb::arg().none(), nb::arg());
}

}  // namespace cuprum::python
