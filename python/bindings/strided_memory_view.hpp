// The Python object of a view. It is filled in as other libraries describe their arrays, and looks no closer before
// somebody asks: most views are made to pass their address to a kernel.
#pragma once

#include <dlpack/dlpack.h>

#include "bindings/common.hpp"
#include "bindings/strided_layout.hpp"

namespace cuprum::python {

/// A tensor with extents of its own.
struct TensorCopy {
  static constexpr int max_axes = 8;

  explicit TensorCopy(const DLTensor& other);
  TensorCopy(const TensorCopy&) = delete;
  TensorCopy& operator=(const TensorCopy&) = delete;

  DLTensor tensor;
  std::int64_t extents[2 * max_axes];  ///< the shape, then the strides
};

struct PythonView {
  std::uint64_t ptr = 0;   ///< of the element at index (0, 0, …)
  std::uint64_t base = 0;  ///< where the layout's offsets count from
  int device_id = 0;
  bool is_device_accessible = false;
  bool readonly = false;
  nb::object exporting_obj;

  const DLTensor* tensor = nullptr;        ///< which `memory` or `copy` holds; null for views that are not from DLPack
  std::shared_ptr<void> memory;            ///< what keeps the memory besides `exporting_obj`
  std::shared_ptr<const TensorCopy> copy;  ///< where `exporting_obj` alone keeps the memory
  std::int64_t stream = -1;                ///< the one it was made for, as its number; -1 when there is none
  nb::object shape, strides;               ///< tuples that CuPy made, strides in bytes; invalid for other views
  nb::object dtype;                        ///< a numpy.dtype, or None; invalid until somebody asks
  nb::object layout;                       ///< the Python object; invalid until somebody asks
};

/// The layout, made now if need be. ValueError for an empty view.
const PythonLayout& layout_of(PythonView& view);
/// A numpy.dtype or None.
nb::object dtype_of_view(PythonView& view);

/// From objects with __dlpack__, __cuda_array_interface__ and __array_interface__. BufferError when they say what is
/// not understood.
PythonView view_from_dlpack(nb::handle object, nb::handle stream);
/// The two parts of the first. Fills an empty view without calling the object's methods; false where that can't be, and
/// the view stays empty.
bool fill_quickly(PythonView& view, nb::handle object, nb::handle stream);
PythonView view_by_dlpack_methods(nb::handle object, nb::handle stream);
PythonView view_from_cuda_array_interface(nb::handle object, nb::handle stream);
PythonView view_from_array_interface(nb::handle object);

/// Throws BufferError for a tensor that says of itself what can't be: no shape, elements without bits. Types that NumPy
/// doesn't have stay to be refused by who wants the elements.
void check_tensor(const DLTensor& tensor);
/// The number of the stream that was given as stream_ptr; -1 for none.
std::int64_t stream_number_of(nb::handle stream);
/// (kind, number) of the device in DLPack's terms.
nb::tuple device_of_view(const PythonView& view);
/// The view's memory as a DLPack tensor, which keeps `self`.
nb::object capsule_of_view(nb::handle self, bool is_versioned);
/// The view of a tensor, which it takes over.
PythonView view_of_tensor(DLManagedTensorVersioned* tensor);
/// Fills a view of a tensor that somebody else keeps, of at most TensorCopy::max_axes axes.
void fill_from_copy(PythonView& view, const DLTensor& tensor);
/// What DLPackExchangeAPI of dlpack.h describes, as a capsule.
nb::object exchange_api();

}  // namespace cuprum::python
