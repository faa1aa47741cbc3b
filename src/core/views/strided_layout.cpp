// What a layout is and what can be asked of it; its operations are in strided_layout_axes.cpp and
// strided_layout_reshape.cpp.
#include <algorithm>
#include <cuprum/strided_layout.hpp>
#include <limits>
#include <numeric>
#include <ostream>
#include <utility>

#include "core/views/checked_arithmetic.hpp"
#include "core/views/layout_axes.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::checked_product;
using core::checked_sum;
using core::VolumeOf;
using support::join;
using support::text;

namespace {

using Extents = StridedLayout::Extents;
using Axes = StridedLayout::Axes;

void check_shape(std::span<const std::int64_t> shape) {
  if (shape.size() > StridedLayout::max_ndim) {
    throw InvalidArgument(
        text("a layout of ", shape.size(), " dimensions: there can be at most ", StridedLayout::max_ndim));
  }
  for (std::int64_t extent : shape)
    if (extent < 0) throw InvalidArgument(text("shape (", join(shape), "): extents must not be negative"));
}

bool has_no_elements(std::span<const std::int64_t> shape) {
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

std::int64_t volume_of(std::span<const std::int64_t> shape) {
  if (has_no_elements(shape)) return 0;
  std::int64_t volume = 1;
  for (std::int64_t extent : shape) volume = checked_product(volume, extent, VolumeOf{shape});
  return volume;
}

std::vector<std::int64_t> joined(const Extents& shape, const Extents& strides) {
  if (shape.size() != strides.size()) {
    throw InvalidArgument(text("shape (", join(shape), ") and strides (", join(strides),
                               "): there must be one stride for each of the ", shape.size(), " extents"));
  }
  std::vector<std::int64_t> dims = shape;
  dims.insert(dims.end(), strides.begin(), strides.end());
  return dims;
}

void check_itemsize(std::int64_t itemsize) {
  if (itemsize < 1) throw InvalidArgument(text("itemsize ", itemsize, ": it must be positive"));
}

Extents in_elements(const Extents& strides_in_bytes, std::int64_t itemsize) {
  check_itemsize(itemsize);
  Extents strides = strides_in_bytes;
  for (std::int64_t& stride : strides) {
    if (stride % itemsize != 0) {
      throw InvalidArgument(
          text("strides of (", join(strides_in_bytes), ") bytes: they must be multiples of the itemsize, ", itemsize));
    }
    stride /= itemsize;
  }
  return strides;
}

/// `order`: the axes from the largest stride to the smallest.
Extents dense_strides(const Extents& shape, const Axes& order) {
  Extents strides(shape.size());
  if (has_no_elements(shape)) return strides;
  std::int64_t stride = 1;
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
    strides[*axis] = stride;
    stride = checked_product(stride, shape[*axis], VolumeOf{shape});
  }
  return strides;
}

Axes axes_in_order(std::size_t ndim, StrideOrder order) {
  if (order == StrideOrder::keep)
    throw InvalidArgument(
        "the stride order 'keep' needs a layout to keep it from; here it can be c, f or a permutation");
  Axes axes(ndim);
  std::iota(axes.begin(), axes.end(), 0);
  if (order == StrideOrder::f) std::reverse(axes.begin(), axes.end());
  return axes;
}

std::int64_t magnitude(std::int64_t value) { return value < 0 ? -value : value; }

/// Whether the elements follow each other without gaps when the axes are gone through in this order, the last first.
template <typename Order>
bool is_contiguous(const StridedLayout& layout, Order begin, Order end) {
  if (layout.volume() == 0) return true;
  std::int64_t expected = 1;
  for (; begin != end; ++begin) {
    const std::int64_t extent = layout.shape()[*begin];
    if (extent == 1) continue;
    if (layout.strides()[*begin] != expected) return false;
    expected *= extent;  // at most the volume
  }
  return true;
}

}  // namespace

StridedLayout::StridedLayout(Checked, std::vector<std::int64_t> dims, std::int64_t itemsize, std::int64_t slice_offset)
    : dims_(std::move(dims)), itemsize_(itemsize), slice_offset_(slice_offset) {
  check_itemsize(itemsize);
  check_shape(shape());
  volume_ = volume_of(shape());
  checked_product(slice_offset, itemsize, "the offset in bytes");
  for (std::int64_t stride : strides()) {
    // -stride and the stride in bytes must exist too.
    if (stride == std::numeric_limits<std::int64_t>::min())
      throw InvalidArgument(text("stride ", stride, " does not fit into 64 bits when it is negated"));
    checked_product(magnitude(stride), itemsize, "a stride in bytes");
  }
  if (volume_ == 0) return;
  min_offset_ = max_offset_ = slice_offset;
  for (int axis = 0; axis < ndim(); ++axis) {
    const std::int64_t reach = checked_product(strides()[axis], shape()[axis] - 1, "the reach of axis ", axis);
    std::int64_t& bound = reach < 0 ? min_offset_ : max_offset_;
    bound = checked_sum(bound, reach, "an element's offset");
  }
  checked_product(min_offset_, itemsize, "an element's offset in bytes");
  checked_product(checked_sum(max_offset_, 1, "an element's offset"), itemsize, "an element's offset in bytes");
  checked_sum(max_offset_, -min_offset_, "the distance between elements");
}

StridedLayout::StridedLayout(const Extents& shape, std::int64_t itemsize)
    : StridedLayout(dense(shape, itemsize, StrideOrder::c)) {}

StridedLayout::StridedLayout(const Extents& shape, const Extents& strides, std::int64_t itemsize, bool divide_strides)
    : StridedLayout(Checked{}, joined(shape, divide_strides ? in_elements(strides, itemsize) : strides), itemsize, 0) {}

// What is left must be a layout, too: its volume and bounds are those of no axes.
StridedLayout::StridedLayout(StridedLayout&& other) noexcept
    : dims_(std::exchange(other.dims_, {})),
      itemsize_(other.itemsize_),
      slice_offset_(std::exchange(other.slice_offset_, 0)),
      volume_(std::exchange(other.volume_, 1)),
      min_offset_(std::exchange(other.min_offset_, 0)),
      max_offset_(std::exchange(other.max_offset_, 0)) {}

StridedLayout& StridedLayout::operator=(StridedLayout&& other) noexcept {
  if (this == &other) return *this;
  dims_ = std::exchange(other.dims_, {});
  itemsize_ = other.itemsize_;
  slice_offset_ = std::exchange(other.slice_offset_, 0);
  volume_ = std::exchange(other.volume_, 1);
  min_offset_ = std::exchange(other.min_offset_, 0);
  max_offset_ = std::exchange(other.max_offset_, 0);
  return *this;
}

StridedLayout StridedLayout::dense(const Extents& shape, std::int64_t itemsize, StrideOrder stride_order) {
  check_shape(shape);
  return dense(shape, itemsize, axes_in_order(shape.size(), stride_order));
}

StridedLayout StridedLayout::dense(const Extents& shape, std::int64_t itemsize, const Axes& stride_order) {
  check_shape(shape);
  const Axes order = core::checked_permutation(stride_order, static_cast<int>(shape.size()));
  return StridedLayout(Checked{}, joined(shape, dense_strides(shape, order)), itemsize, 0);
}

StridedLayout StridedLayout::dense_like(const StridedLayout& other, StrideOrder stride_order) {
  const Extents shape(other.shape().begin(), other.shape().end());
  if (stride_order == StrideOrder::keep) return dense(shape, other.itemsize_, other.stride_order());
  return dense(shape, other.itemsize_, stride_order);
}

StridedLayout StridedLayout::dense_like(const StridedLayout& other, const Axes& stride_order) {
  return dense(Extents(other.shape().begin(), other.shape().end()), other.itemsize_, stride_order);
}

StridedLayout StridedLayout::to_dense(StrideOrder stride_order) const { return dense_like(*this, stride_order); }

StridedLayout StridedLayout::to_dense(const Axes& stride_order) const { return dense_like(*this, stride_order); }

StridedLayout StridedLayout::with(const Extents& shape, const Extents& strides) const {
  return StridedLayout(Checked{}, joined(shape, strides), itemsize_, slice_offset_);
}

StridedLayout::Extents StridedLayout::strides_in_bytes() const {
  Extents strides(this->strides().begin(), this->strides().end());
  for (std::int64_t& stride : strides) stride *= itemsize_;
  return strides;
}

std::int64_t StridedLayout::required_size_in_bytes() const {
  if (min_offset_ < 0) {
    throw InvalidArgument(text("the size that a layout of ", *this, " needs: it has elements up to ", -min_offset_,
                               " before the beginning of the memory"));
  }
  return (max_offset_ + 1) * itemsize_;
}

std::int64_t StridedLayout::offset_of(std::span<const std::int64_t> index) const {
  if (index.size() != shape().size()) {
    throw InvalidArgument(
        text("index (", join(index), "): a layout of ", ndim(), " dimensions takes ", ndim(), " numbers"));
  }
  std::int64_t offset = slice_offset_;
  for (std::size_t axis = 0; axis < index.size(); ++axis) {
    if (index[axis] < 0 || index[axis] >= shape()[axis]) {
      throw InvalidArgument(text("index (", join(index), ") is outside shape (", join(shape()), ")"));
    }
    offset += index[axis] * strides()[axis];  // within the bounds, which were checked
  }
  return offset;
}

std::int64_t StridedLayout::offset_of(std::initializer_list<std::int64_t> index) const {
  return offset_of(std::span(index.begin(), index.size()));
}

StridedLayout::Axes StridedLayout::stride_order() const {
  Axes axes(ndim());
  std::iota(axes.begin(), axes.end(), 0);
  std::sort(axes.begin(), axes.end(), [this](int a, int b) {
    const std::int64_t stride_a = magnitude(strides()[a]);
    const std::int64_t stride_b = magnitude(strides()[b]);
    if (stride_a != stride_b) return stride_a > stride_b;
    return shape()[a] != shape()[b] ? shape()[a] > shape()[b] : a < b;
  });
  return axes;
}

bool StridedLayout::is_contiguous_c() const {
  const Axes axes = axes_in_order(ndim(), StrideOrder::f);
  return is_contiguous(*this, axes.begin(), axes.end());
}

bool StridedLayout::is_contiguous_f() const {
  const Axes axes = axes_in_order(ndim(), StrideOrder::c);
  return is_contiguous(*this, axes.begin(), axes.end());
}

bool StridedLayout::is_contiguous_any() const {
  const Axes axes = stride_order();
  return is_contiguous(*this, axes.rbegin(), axes.rend());
}

bool StridedLayout::is_unique() const {
  if (volume_ == 0) return true;
  // From the smallest stride on: each axis must step over all that the axes before it reach.
  const Axes axes = stride_order();
  std::int64_t reach = 0;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    if (shape()[*axis] == 1) continue;
    const std::int64_t stride = magnitude(strides()[*axis]);
    if (stride <= reach) return false;
    reach += stride * (shape()[*axis] - 1);  // at most max_offset - min_offset
  }
  return true;
}

bool operator==(const StridedLayout& a, const StridedLayout& b) {
  return a.itemsize_ == b.itemsize_ && a.slice_offset_ == b.slice_offset_ && a.dims_ == b.dims_;
}

std::ostream& operator<<(std::ostream& out, const StridedLayout& layout) {
  out << "shape (" << join(layout.shape()) << "), strides (" << join(layout.strides()) << "), itemsize "
      << layout.itemsize();
  if (layout.slice_offset() != 0) out << ", offset " << layout.slice_offset();
  return out;
}

}  // namespace cuprum::inline CUPRUM_ABI
