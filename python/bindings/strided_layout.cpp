// Layouts: see <cuprum/strided_layout.hpp>.
#include "bindings/strided_layout.hpp"

#include <numeric>

namespace cuprum::python {
namespace {

std::int64_t number_from(nb::handle object) {
  nb::object index = nb::steal(PyNumber_Index(object.ptr()));
  if (!index.is_valid()) throw nb::python_error();
  const long long number = PyLong_AsLongLong(index.ptr());
  if (number == -1 && PyErr_Occurred()) throw nb::python_error();
  return number;
}

StridedLayout::Extents extents_from(nb::handle given, const char* what) {
  StridedLayout::Extents extents;
  for (nb::handle number : items_of(given, what, "a sequence of ints")) extents.push_back(number_from(number));
  return extents;
}

StridedLayout::Axes axes_from(nb::handle given, const char* what) {
  StridedLayout::Axes axes;
  for (nb::handle number : items_of(given, what, "a sequence of ints"))
    axes.push_back(static_cast<int>(number_from(number)));
  return axes;
}

/// 'C', 'F', 'K' or a permutation.
template <typename Make>
StridedLayout in_order(nb::handle given, bool may_keep, Make make) {
  if (nb::isinstance<nb::str>(given)) {
    const std::string word = nb::cast<std::string>(given);
    if (word == "C") return make(StrideOrder::c);
    if (word == "F") return make(StrideOrder::f);
    if (word == "K" && may_keep) return make(StrideOrder::keep);
  } else if (nb::isinstance<nb::tuple>(given) || nb::isinstance<nb::list>(given)) {
    return make(axes_from(given, "stride_order"));
  }
  throw nb::value_error((std::string("The stride_order must be ") + (may_keep ? "'K', " : "") +
                         "'C', 'F', or a permutation tuple. Got: " + nb::cast<std::string>(nb::str(given)))
                            .c_str());
}

std::optional<std::int64_t> bound_from(nb::handle given) {
  if (given.is_none()) return std::nullopt;
  return number_from(given);
}

SliceItem item_from(nb::handle given) {
  if (given.is(Py_Ellipsis)) return ellipsis;
  if (PySlice_Check(given.ptr())) {
    const std::int64_t step = bound_from(given.attr("step")).value_or(1);
    if (step == 0) throw nb::value_error("slice step cannot be zero");
    return Slice{.start = bound_from(given.attr("start")), .stop = bound_from(given.attr("stop")), .step = step};
  }
  if (PyIndex_Check(given.ptr())) return number_from(given);
  throw nb::type_error(
      ("Invalid slice in slices: " + nb::cast<std::string>(nb::repr(given)) + ". Expected slice instance or integer.")
          .c_str());
}

[[noreturn]] void refuse(const std::string& message) { throw nb::value_error(message.c_str()); }

PythonLayout permuted(const PythonLayout& self, nb::handle order) {
  const StridedLayout::Axes axes = axes_from(order, "axis_order");
  const int ndim = self.layout.ndim();
  const std::string dimensions = std::to_string(ndim) + "D tensor";
  if (axes.size() != static_cast<std::size_t>(ndim)) {
    refuse("Permutation must have the same length as the number of dimensions, got " + std::to_string(axes.size()) +
           " for " + dimensions + ".");
  }
  std::vector<bool> is_named(axes.size());
  for (const int axis : axes) {
    const int counted = axis < 0 ? axis + ndim : axis;
    if (counted < 0 || counted >= ndim)
      refuse("Invalid permutation: axis " + std::to_string(axis) + " out of range for " + dimensions);
    if (is_named[static_cast<std::size_t>(counted)])
      refuse("Invalid permutation: axis " + std::to_string(axis) + " appears multiple times.");
    is_named[static_cast<std::size_t>(counted)] = true;
  }
  return {self.layout.permuted(axes)};
}

/// Tells what is wrong with a new shape, so that what the library refuses after that is for the strides.
void check_shape(const StridedLayout& layout, const StridedLayout::Extents& shape) {
  std::int64_t volume = 1;
  int open = 0;
  for (const std::int64_t extent : shape) {
    if (extent < -1) refuse("Extents must be non-negative");
    if (extent == -1) {
      ++open;
    } else if (__builtin_mul_overflow(volume, extent, &volume)) {
      refuse("The new volume does not fit 64 bits");
    }
  }
  const std::string old = std::to_string(layout.volume());
  if (open > 1) refuse("There can be at most one -1 extent in a shape");
  if (open == 0 && volume != layout.volume())
    refuse("The original volume " + old + " and the new volume " + std::to_string(volume) + " must be equal.");
  if (open == 1 && volume == 0) refuse("The -1 extent is ambiguous when the specified sub-volume is 0");
  if (open == 1 && layout.volume() % volume != 0) {
    refuse("The original volume " + old + " must be divisible by the specified sub-volume " + std::to_string(volume) +
           ".");
  }
}

PythonLayout reshaped(const PythonLayout& self, nb::handle given) {
  const StridedLayout::Extents shape = extents_from(given, "shape");
  check_shape(self.layout, shape);
  try {
    return {self.layout.reshaped(shape)};
  } catch (const InvalidArgument& error) {
    refuse(std::string("Layout strides are incompatible with the new shape: ") + error.what());
  }
}

PythonLayout sliced(const PythonLayout& self, nb::handle given) {
  std::vector<SliceItem> items;
  if (nb::isinstance<nb::tuple>(given)) {
    for (nb::handle item : nb::iter(given)) items.push_back(item_from(item));
  } else {
    items.push_back(item_from(given));
  }
  const auto is_counted = [](const SliceItem& item) { return !item.is_ellipsis(); };
  const auto count = std::count_if(items.begin(), items.end(), is_counted);
  if (count > self.layout.ndim()) {
    refuse("The number of slices (" + std::to_string(count) + ") is greater than the number of dimensions (" +
           std::to_string(self.layout.ndim()) + ").");
  }
  return {self.layout.sliced(items)};
}

/// A copy that is no other than the layout itself stays that object.
nb::object dense_like(nb::handle other, nb::handle order) {
  if (!nb::isinstance<PythonLayout>(other))
    throw nb::type_error(("other must be a StridedLayout, not " + type_of(other)).c_str());
  const PythonLayout& layout = nb::cast<const PythonLayout&>(other);
  const StridedLayout dense =
      in_order(order, true, [&](const auto& wanted) { return StridedLayout::dense_like(layout.layout, wanted); });
  if (dense == layout.layout && nb::isinstance<nb::str>(order)) return nb::borrow(other);
  return nb::cast(PythonLayout{dense});
}

std::string layout_in_words(const PythonLayout& layout) {
  const auto text = [](const nb::object& value) { return nb::cast<std::string>(nb::repr(value)); };
  std::string words = "_StridedLayout(shape=" + text(tuple_of_numbers(layout.layout.shape())) +
                      ", strides=" + text(strides_of(layout)) +
                      ", itemsize=" + std::to_string(layout.layout.itemsize());
  if (layout.layout.slice_offset() != 0) words += ", _slice_offset=" + std::to_string(layout.layout.slice_offset());
  return words + ")";
}

nb::tuple axes_tuple(const StridedLayout::Axes& axes) { return nb::tuple(nb::cast(axes)); }

/// Without strides that of C, also where there are no elements, and so no stride is larger than another.
nb::tuple stride_order_of(const PythonLayout& self) {
  if (self.has_strides) return axes_tuple(self.layout.stride_order());
  StridedLayout::Axes axes(static_cast<std::size_t>(self.layout.ndim()));
  std::iota(axes.begin(), axes.end(), 0);
  return axes_tuple(axes);
}

void bind_facts(nb::class_<PythonLayout>& bound) {
  bound.def_prop_ro(
           "ndim", [](const PythonLayout& self) { return self.layout.ndim(); }, "The number of axes.")
      .def_prop_ro(
          "shape", [](const PythonLayout& self) { return tuple_of_numbers(self.layout.shape()); },
          "The extent of each axis.")
      .def_prop_ro("strides", &strides_of, "In elements; None when it was made without: dense in C order.")
      .def_prop_ro(
          "strides_in_bytes",
          [](const PythonLayout& self) -> nb::object {
            if (!self.has_strides) return nb::none();
            return tuple_of_numbers(self.layout.strides_in_bytes());
          },
          "In bytes; None as strides are.")
      .def_prop_ro("stride_order", &stride_order_of, "The axes from the largest stride to the smallest.")
      .def_prop_ro(
          "itemsize", [](const PythonLayout& self) { return self.layout.itemsize(); }, "Of an element, in bytes.")
      .def_prop_ro(
          "volume", [](const PythonLayout& self) { return self.layout.volume(); }, "The number of elements.")
      .def_prop_ro(
          "slice_offset", [](const PythonLayout& self) { return self.layout.slice_offset(); },
          "Of the first element, in elements.")
      .def_prop_ro(
          "slice_offset_in_bytes", [](const PythonLayout& self) { return self.layout.slice_offset_in_bytes(); },
          "The same in bytes.")
      .def_prop_ro(
          "offset_bounds",
          [](const PythonLayout& self) { return nb::make_tuple(self.layout.min_offset(), self.layout.max_offset()); },
          "The least and the greatest offset of an element; (0, -1) when there are none.")
      .def_prop_ro(
          "min_offset", [](const PythonLayout& self) { return self.layout.min_offset(); }, "The least offset.")
      .def_prop_ro(
          "max_offset", [](const PythonLayout& self) { return self.layout.max_offset(); }, "The greatest offset.")
      .def_prop_ro(
          "is_unique", [](const PythonLayout& self) { return self.layout.is_unique(); },
          "Whether no two elements share an offset.")
      .def_prop_ro(
          "is_contiguous_c", [](const PythonLayout& self) { return self.layout.is_contiguous_c(); },
          "Whether elements follow each other in C order.")
      .def_prop_ro(
          "is_contiguous_f", [](const PythonLayout& self) { return self.layout.is_contiguous_f(); },
          "Whether elements follow each other in Fortran's order.")
      .def_prop_ro(
          "is_contiguous_any", [](const PythonLayout& self) { return self.layout.is_contiguous_any(); },
          "Whether elements follow each other in some order of the axes.")
      .def_prop_ro(
          "is_dense", [](const PythonLayout& self) { return self.layout.is_dense(); },
          "Whether they also begin at offset 0.")
      .def(
          "required_size_in_bytes", [](const PythonLayout& self) { return self.layout.required_size_in_bytes(); },
          "The bytes that memory needs to hold all elements.")
      .def(
          "flattened_axis_mask", [](const PythonLayout& self) { return self.layout.flattened_axis_mask().bits; },
          "The axes that flattened() merges into the ones before them, as bits.");
}

void bind_transformations(nb::class_<PythonLayout>& bound) {
  bound
      .def(
          "to_dense", [](Self<PythonLayout> self, nb::handle order) { return dense_like(self, order); },
          "stride_order"_a = "K", "The same shape without gaps.")
      .def("reshaped", &reshaped, "shape"_a, "With another shape of the same volume; one extent may be -1.")
      .def("permuted", &permuted, "axis_order"_a, "With the axes in another order.")
      .def(
          "flattened",
          [](const PythonLayout& self, int start_axis, int end_axis, std::optional<std::uint64_t> mask) {
            return PythonLayout{mask ? self.layout.flattened(AxisMask{*mask})
                                     : self.layout.flattened(start_axis, end_axis)};
          },
          "start_axis"_a = 0, "end_axis"_a = -1, "mask"_a = nb::none(),
          "With neighbouring axes merged as far as their strides allow.")
      .def(
          "squeezed", [](const PythonLayout& self) { return PythonLayout{self.layout.squeezed()}; },
          "Without the axes of extent 1.")
      .def(
          "unsqueezed",
          [](const PythonLayout& self, nb::handle axis) {
            if (PyIndex_Check(axis.ptr()))
              return PythonLayout{self.layout.unsqueezed(static_cast<int>(number_from(axis)))};
            const StridedLayout::Axes axes = axes_from(axis, "axis");
            return axes.empty() ? self : PythonLayout{self.layout.unsqueezed(axes)};
          },
          "axis"_a, "With axes of extent 1 added at these places.")
      .def(
          "broadcast_to",
          [](const PythonLayout& self, nb::handle shape) {
            return PythonLayout{self.layout.broadcast_to(extents_from(shape, "shape"))};
          },
          "shape"_a, "With axes of extent 1 repeated.")
      .def(
          "repacked",
          [](const PythonLayout& self, std::int64_t itemsize, std::uint64_t data_ptr, int axis, bool keep_dim) {
            const bool is_same = itemsize == self.layout.itemsize();
            return PythonLayout{
                self.layout.repacked(itemsize, {.data_ptr = data_ptr, .axis = axis, .keep_dim = keep_dim}),
                !is_same || self.has_strides};
          },
          "itemsize"_a, "data_ptr"_a = 0, "axis"_a = -1, "keep_dim"_a = true,
          "The same bytes as elements of another size.")
      .def(
          "max_compatible_itemsize",
          [](const PythonLayout& self, std::int64_t max_itemsize, std::uint64_t data_ptr, int axis) {
            return self.layout.max_compatible_itemsize(
                {.max_itemsize = max_itemsize, .data_ptr = data_ptr, .axis = axis});
          },
          "max_itemsize"_a = 16, "data_ptr"_a = 0, "axis"_a = -1, "The largest itemsize that repacked() takes.")
      .def("sliced", &sliced, "slices"_a.none(), "A part, by indices, slices and an ellipsis.")
      .def("__getitem__", &sliced, nb::arg().none());
}

}  // namespace

nb::tuple tuple_of_numbers(std::span<const std::int64_t> numbers) {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(numbers.size())));
  if (!tuple.is_valid()) throw nb::python_error();
  for (std::size_t i = 0; i < numbers.size(); ++i)
    PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(numbers[i]));
  return nb::borrow<nb::tuple>(tuple);
}

nb::object strides_of(const PythonLayout& layout) {
  if (!layout.has_strides) return nb::none();
  return tuple_of_numbers(layout.layout.strides());
}

PythonLayout layout_from(nb::handle shape, nb::handle strides, std::int64_t itemsize, bool divide_strides) {
  const StridedLayout::Extents extents = extents_from(shape, "shape");
  if (strides.is_none()) return {StridedLayout(extents, itemsize), false};
  const StridedLayout::Extents steps = extents_from(strides, "strides");
  if (divide_strides && itemsize > 0) {
    for (const std::int64_t step : steps)
      if (step % itemsize != 0) throw nb::value_error("strides must be divisible by itemsize");
  }
  return {StridedLayout(extents, steps, itemsize, divide_strides)};
}

void bind_strided_layout(nb::module_& module) {
  nb::class_<PythonLayout> bound(module, "_StridedLayout", nb::is_weak_referenceable(),
                                 "How the elements of a multi-dimensional array lie in memory.\n\n"
                                 ">>> from cuprum.utils import StridedLayout\n"
                                 ">>> StridedLayout((4, 6), None, 4)[1:3, ::2].strides\n"
                                 "(6, 2)\n");
  bound
      .def(
          "__init__",
          [](PythonLayout* self, nb::handle shape, nb::handle strides, std::int64_t itemsize, bool divide_strides) {
            new (self) PythonLayout(layout_from(shape, strides, itemsize, divide_strides));
          },
          "shape"_a, "strides"_a.none(), "itemsize"_a, "divide_strides"_a = false)
      .def_static(
          "dense",
          [](nb::handle shape, std::int64_t itemsize, nb::handle order) {
            const StridedLayout::Extents extents = extents_from(shape, "shape");
            return PythonLayout{
                in_order(order, false, [&](const auto& o) { return StridedLayout::dense(extents, itemsize, o); })};
          },
          "shape"_a, "itemsize"_a, "stride_order"_a = "C", "Without gaps, in an order of the axes.")
      .def_static("dense_like", &dense_like, "other"_a, "stride_order"_a = "K",
                  "The same shape and itemsize without gaps and without an offset.")
      .def("__eq__", &equal<PythonLayout>, nb::arg().none())
      .def("__hash__",
           [](const PythonLayout& self) {
             return nb::hash(nb::make_tuple(tuple_of_numbers(self.layout.shape()),
                                            tuple_of_numbers(self.layout.strides()), self.layout.itemsize(),
                                            self.layout.slice_offset()));
           })
      .def("__repr__", &layout_in_words);
  bind_facts(bound);
  bind_transformations(bound);
}

}  // namespace cuprum::python
