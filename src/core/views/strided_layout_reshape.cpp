// Operations that see several axes as one, or several elements as one: flattening, reshaping and repacking.
#include <algorithm>
#include <cstdlib>
#include <cuprum/strided_layout.hpp>
#include <numeric>

#include "core/views/checked_arithmetic.hpp"
#include "core/views/layout_axes.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::checked_product;
using core::VolumeOf;
using support::join;
using support::text;

namespace {

using Extents = StridedLayout::Extents;

AxisMask mask_of(int axis) { return {std::uint64_t{1} << axis}; }
bool contains(AxisMask mask, int axis) { return (mask & mask_of(axis)) != AxisMask{}; }

/// The axes after `start_axis` up to `end_axis`: those that may be merged into the one before.
AxisMask mask_of_range(int start_axis, int end_axis) {
  AxisMask mask;
  for (int axis = start_axis + 1; axis <= end_axis; ++axis) mask.bits |= mask_of(axis).bits;
  return mask;
}

/// Whether, in C order, the last element of `axis` is followed by the next of the axis before it at the same distance.
bool continues(const StridedLayout& layout, int axis) {
  std::int64_t step = 0;
  if (__builtin_mul_overflow(layout.strides()[axis], layout.shape()[axis], &step)) return false;
  return layout.strides()[axis - 1] == step;
}

/// With one extent of -1 replaced by what the volume leaves for it.
Extents complete_shape(const Extents& shape, std::int64_t volume) {
  constexpr std::int64_t inferred = -1;
  Extents result = shape;
  std::int64_t* open = nullptr;
  std::int64_t others = std::count(shape.begin(), shape.end(), 0) > 0 ? 0 : 1;
  for (std::int64_t& extent : result) {
    if (extent < inferred)
      throw InvalidArgument(text("reshaping to (", join(shape), "): extents must not be negative"));
    if (extent != inferred) {
      others = checked_product(others, extent, VolumeOf{shape});
    } else if (open) {
      throw InvalidArgument(text("reshaping to (", join(shape), "): at most one extent can be -1"));
    } else {
      open = &extent;
    }
  }
  if (!open) {
    if (others == volume) return result;
    throw InvalidArgument(
        text("reshaping to (", join(shape), "): that has ", others, " elements and the layout has ", volume));
  }
  if (others == 0)
    throw InvalidArgument(text("reshaping to (", join(shape), "): with an extent of 0, -1 could be anything"));
  if (volume % others != 0) {
    throw InvalidArgument(
        text("reshaping to (", join(shape), "): ", others, " does not divide the layout's ", volume, " elements"));
  }
  *open = volume / others;
  return result;
}

/// Strides for `shape` that go through the elements of `merged` in C order, if there are any. `merged` has no extents
/// of 1 and no axes that could be merged, so each of its axes must be the product of neighbouring extents of `shape`.
std::optional<Extents> split_strides(const StridedLayout& merged, const Extents& shape) {
  Extents strides(shape.size());
  std::size_t next = shape.size();  // the axes from here on have their strides
  std::int64_t stride = 1;
  for (int axis = merged.ndim() - 1; axis >= 0; --axis) {
    std::int64_t left = merged.shape()[axis];
    stride = merged.strides()[axis];
    while (next > 0 && (left > 1 || shape[next - 1] == 1)) {
      const std::int64_t extent = shape[--next];
      if (left % extent != 0) return std::nullopt;
      strides[next] = stride;
      stride = checked_product(stride, extent, "the stride of axis ", next);
      left /= extent;
    }
  }
  while (next > 0) strides[--next] = stride;  // extents of 1 when there is nothing else
  return strides;
}

}  // namespace

StridedLayout StridedLayout::flattened(AxisMask mask) const {
  if (ndim() == 0) return with({1}, {1});
  Extents new_shape;
  Extents new_strides;
  for (int axis = 0; axis < ndim(); ++axis) {
    if (axis > 0 && contains(mask, axis) && continues(*this, axis)) {
      new_shape.back() = checked_product(new_shape.back(), shape()[axis], "the extent of merged axes");
      new_strides.back() = strides()[axis];
    } else {
      new_shape.push_back(shape()[axis]);
      new_strides.push_back(strides()[axis]);
    }
  }
  return with(new_shape, new_strides);
}

StridedLayout StridedLayout::flattened(int start_axis, int end_axis) const {
  if (ndim() == 0 && start_axis == 0 && end_axis == -1) return flattened(AxisMask{});
  return flattened(mask_of_range(core::checked_axis(start_axis, ndim()), core::checked_axis(end_axis, ndim())));
}

AxisMask StridedLayout::flattened_axis_mask() const {
  AxisMask mask;
  for (int axis = 1; axis < ndim(); ++axis)
    if (continues(*this, axis)) mask.bits |= mask_of(axis).bits;
  return mask;
}

StridedLayout StridedLayout::reshaped(const Extents& given) const {
  if (given.size() > max_ndim) {
    throw InvalidArgument(text("reshaping to ", given.size(), " dimensions: there can be at most ", max_ndim));
  }
  const Extents new_shape = complete_shape(given, volume_);
  if (volume_ == 0) return with(new_shape, Extents(new_shape.size()));
  const StridedLayout without_ones = squeezed();
  const StridedLayout merged = without_ones.ndim() == 0 ? without_ones : without_ones.flattened();
  if (const auto new_strides = split_strides(merged, new_shape)) return with(new_shape, *new_strides);
  throw InvalidArgument(text("reshaping ", *this, " to (", join(given),
                             ") needs a copy: no strides go through the elements in that order"));
}

StridedLayout StridedLayout::repacked(std::int64_t itemsize, const RepackOptions& options) const {
  if (itemsize < 1) throw InvalidArgument(text("repacking to itemsize ", itemsize, ": it must be positive"));
  if (itemsize == itemsize_) return *this;
  if (itemsize % itemsize_ != 0 && itemsize_ % itemsize != 0) {
    throw InvalidArgument(
        text("repacking from itemsize ", itemsize_, " to ", itemsize, ": one must be a multiple of the other"));
  }
  const int axis = core::checked_axis(options.axis, ndim());
  if (strides()[axis] != 1) {
    throw InvalidArgument(text("repacking axis ", axis, ": its stride is ", strides()[axis], " and must be 1"));
  }
  if (shape()[axis] == 0) throw InvalidArgument(text("repacking axis ", axis, ": its extent must not be 0"));
  return itemsize > itemsize_ ? packed(itemsize / itemsize_, axis, options) : unpacked(itemsize_ / itemsize, axis);
}

StridedLayout StridedLayout::packed(std::int64_t factor, int axis, const RepackOptions& options) const {
  const std::int64_t itemsize = checked_product(itemsize_, factor, "the itemsize");
  if (options.data_ptr % itemsize != 0) {
    throw InvalidArgument(text("repacking to itemsize ", itemsize, ": the address ",
                               reinterpret_cast<const void*>(options.data_ptr), " is not aligned to it"));
  }
  const auto divided = [&](std::int64_t value, const auto&... what) {
    if (value % factor != 0) {
      throw InvalidArgument(
          text("repacking to itemsize ", itemsize, ": ", what..., ", ", value, ", is not a multiple of ", factor));
    }
    return value / factor;
  };
  std::vector<std::int64_t> new_shape;
  Extents new_strides;
  for (int i = 0; i < ndim(); ++i) {
    const std::int64_t extent = i == axis ? divided(shape()[i], "the extent of axis ", i) : shape()[i];
    if (i == axis && extent == 1 && !options.keep_dim) continue;
    new_shape.push_back(extent);
    new_strides.push_back(i == axis ? 1 : divided(strides()[i], "the stride of axis ", i));
  }
  new_shape.insert(new_shape.end(), new_strides.begin(), new_strides.end());
  return StridedLayout(Checked{}, std::move(new_shape), itemsize, divided(slice_offset_, "the offset"));
}

StridedLayout StridedLayout::unpacked(std::int64_t factor, int axis) const {
  std::vector<std::int64_t> dims = dims_;
  for (int i = 0; i < ndim(); ++i) {
    std::int64_t& scaled = i == axis ? dims[i] : dims[ndim() + i];
    scaled = checked_product(scaled, factor, "axis ", i);
  }
  return StridedLayout(Checked{}, std::move(dims), itemsize_ / factor,
                       checked_product(slice_offset_, factor, "the offset"));
}

std::int64_t StridedLayout::max_compatible_itemsize(const MaxItemsizeOptions& options) const {
  if (options.max_itemsize < itemsize_) {
    throw InvalidArgument(
        text("the largest itemsize up to ", options.max_itemsize, ": the layout's own is ", itemsize_));
  }
  const int axis = core::checked_axis(options.axis, ndim());
  if (strides()[axis] != 1 || shape()[axis] == 0) return itemsize_;
  // Whatever repacked() divides must be a multiple of the new itemsize in bytes, and all divisors of these numbers
  // divide their greatest common one.
  std::uint64_t largest = std::gcd(static_cast<std::uint64_t>(options.max_itemsize), options.data_ptr);
  const auto limit = [&](std::int64_t elements) {
    largest = std::gcd(largest, static_cast<std::uint64_t>(std::abs(elements)) * itemsize_);
  };
  limit(slice_offset_);
  limit(shape()[axis]);
  for (int i = 0; i < ndim(); ++i)
    if (i != axis) limit(strides()[i]);
  const auto itemsize = static_cast<std::int64_t>(largest);
  return itemsize % itemsize_ == 0 ? itemsize : itemsize_;
}

}  // namespace cuprum::inline CUPRUM_ABI
