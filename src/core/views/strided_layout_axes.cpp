// Operations that change a layout axis by axis: slicing, permuting, adding, removing and repeating axes.
#include <algorithm>
#include <cuprum/strided_layout.hpp>
#include <limits>

#include "core/views/checked_arithmetic.hpp"
#include "core/views/layout_axes.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::checked_product;
using core::checked_sum;
using support::join;
using support::text;

namespace {

using Extents = StridedLayout::Extents;
using Axes = StridedLayout::Axes;

/// The indices first, first + step, … of an axis, `count` of them.
struct Interval {
  std::int64_t first;
  std::int64_t count;
};

/// A bound as the axis sees it: counted from the end when negative, and cut to [low, high].
std::int64_t resolve_bound(std::int64_t bound, std::int64_t extent, std::int64_t low, std::int64_t high) {
  return std::clamp(bound < 0 ? bound + extent : bound, low, high);
}

Interval resolve(const Slice& slice, std::int64_t step, std::int64_t extent) {
  if (step > 0) {
    const std::int64_t start = resolve_bound(slice.start.value_or(0), extent, 0, extent);
    const std::int64_t stop = resolve_bound(slice.stop.value_or(extent), extent, 0, extent);
    return {start, start < stop ? (stop - start - 1) / step + 1 : 0};
  }
  // Backwards the indices end before 0, so the bound beyond the last one is -1.
  const std::int64_t start = slice.start ? resolve_bound(*slice.start, extent, -1, extent - 1) : extent - 1;
  const std::int64_t stop = slice.stop ? resolve_bound(*slice.stop, extent, -1, extent - 1) : -1;
  return {start, stop < start ? (start - stop - 1) / -step + 1 : 0};
}

std::int64_t resolve_index(std::int64_t index, std::int64_t extent, int axis) {
  if (index < -extent || index >= extent)
    throw InvalidArgument(text("index ", index, " is out of range for axis ", axis, " with extent ", extent));
  return index < 0 ? index + extent : index;
}

/// With an ellipsis replaced by the whole axes that it stands for.
std::vector<SliceItem> without_ellipsis(std::span<const SliceItem> items, int ndim) {
  std::vector<SliceItem> result(items.begin(), items.end());
  const auto is_ellipsis = [](const SliceItem& item) { return item.is_ellipsis(); };
  const auto ellipses = std::count_if(items.begin(), items.end(), is_ellipsis);
  if (ellipses > 1) throw InvalidArgument("slicing: there can be one ellipsis");
  if (static_cast<std::int64_t>(items.size()) - ellipses > ndim) {
    throw InvalidArgument(
        text("slicing: ", static_cast<std::int64_t>(items.size()) - ellipses, " items for ", ndim, " dimensions"));
  }
  if (ellipses == 1) {
    const auto place = result.erase(std::find_if(result.begin(), result.end(), is_ellipsis));
    result.insert(place, ndim - result.size(), SliceItem(Slice{}));
  }
  return result;
}

}  // namespace

StridedLayout StridedLayout::sliced(std::span<const SliceItem> given) const {
  const std::vector<SliceItem> items = without_ellipsis(given, ndim());
  Extents new_shape;
  Extents new_strides;
  std::int64_t offset = slice_offset_;
  const auto move_by = [&](std::int64_t index, int axis) {
    offset = checked_sum(offset, checked_product(index, strides()[axis], "the offset"), "the offset");
  };
  bool empty = false;
  for (int axis = 0; axis < ndim(); ++axis) {
    const SliceItem item = axis < static_cast<int>(items.size()) ? items[axis] : SliceItem(Slice{});
    const std::int64_t extent = shape()[axis];
    if (item.is_index()) {
      move_by(resolve_index(item.index(), extent, axis), axis);
      continue;
    }
    // The one step that can't be negated goes as far as the next.
    const std::int64_t step = std::max(item.slice().step, -std::numeric_limits<std::int64_t>::max());
    if (step == 0) throw InvalidArgument(text("slicing axis ", axis, ": the step must not be 0"));
    const Interval range = resolve(item.slice(), step, extent);
    if (range.count > 0) move_by(range.first, axis);
    empty |= range.count == 0;
    new_shape.push_back(range.count);
    new_strides.push_back(checked_product(strides()[axis], step, "the stride of axis ", axis));
  }
  if (empty) new_strides.assign(new_strides.size(), 0);
  std::vector<std::int64_t> dims = std::move(new_shape);
  dims.insert(dims.end(), new_strides.begin(), new_strides.end());
  return StridedLayout(Checked{}, std::move(dims), itemsize_, offset);
}

StridedLayout StridedLayout::sliced(std::initializer_list<SliceItem> items) const {
  return sliced(std::span(items.begin(), items.size()));
}

StridedLayout StridedLayout::operator[](const SliceItem& item) const { return sliced({item}); }

StridedLayout StridedLayout::permuted(const Axes& axis_order) const {
  Extents new_shape;
  Extents new_strides;
  for (int axis : core::checked_permutation(axis_order, ndim())) {
    new_shape.push_back(shape()[axis]);
    new_strides.push_back(strides()[axis]);
  }
  return with(new_shape, new_strides);
}

StridedLayout StridedLayout::transposed() const {
  return with(Extents(shape().rbegin(), shape().rend()), Extents(strides().rbegin(), strides().rend()));
}

StridedLayout StridedLayout::squeezed() const {
  if (volume_ == 0) return with({0}, {0});
  Extents new_shape;
  Extents new_strides;
  for (int axis = 0; axis < ndim(); ++axis) {
    if (shape()[axis] == 1) continue;
    new_shape.push_back(shape()[axis]);
    new_strides.push_back(strides()[axis]);
  }
  return with(new_shape, new_strides);
}

StridedLayout StridedLayout::unsqueezed(int axis) const { return unsqueezed(Axes{axis}); }

StridedLayout StridedLayout::unsqueezed(const Axes& axes) const {
  if (ndim() + axes.size() > max_ndim) {
    throw InvalidArgument(
        text("adding ", axes.size(), " axes to ", ndim(), " dimensions: there can be at most ", max_ndim));
  }
  const int new_ndim = ndim() + static_cast<int>(axes.size());
  std::vector<bool> is_new(new_ndim);
  for (int axis : core::checked_axes(axes, new_ndim)) is_new[axis] = true;

  Extents new_shape;
  Extents new_strides;
  int old = 0;
  for (int axis = 0; axis < new_ndim; ++axis) {
    if (!is_new[axis]) {
      new_shape.push_back(shape()[old]);
      new_strides.push_back(strides()[old++]);
      continue;
    }
    // A stride that lets flattened() merge the new axis with its neighbour.
    new_shape.push_back(1);
    if (old < ndim()) {
      new_strides.push_back(checked_product(shape()[old], strides()[old], "the stride of the new axis ", axis));
    } else {
      new_strides.push_back(ndim() > 0 ? strides().back() : 1);
    }
  }
  return with(new_shape, new_strides);
}

StridedLayout StridedLayout::broadcast_to(const Extents& new_shape) const {
  if (new_shape.size() < shape().size()) {
    throw InvalidArgument(
        text("broadcasting shape (", join(shape()), ") to (", join(new_shape), "): that has fewer axes"));
  }
  const std::size_t added = new_shape.size() - shape().size();
  Extents new_strides(new_shape.size());
  for (std::size_t axis = 0; axis < shape().size(); ++axis) {
    const std::int64_t wanted = new_shape[added + axis];
    if (shape()[axis] == wanted) {
      new_strides[added + axis] = strides()[axis];
    } else if (shape()[axis] != 1) {
      throw InvalidArgument(text("broadcasting shape (", join(shape()), ") to (", join(new_shape), "): axis ", axis,
                                 " has extent ", shape()[axis], ", and only an extent of 1 can become ", wanted));
    }
  }
  return with(new_shape, new_strides);
}

}  // namespace cuprum::inline CUPRUM_ABI
