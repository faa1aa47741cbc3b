// Layouts the slow way: every element's offset, written out.
#pragma once

#include <algorithm>
#include <cuprum/strided_layout.hpp>
#include <functional>
#include <numeric>
#include <random>
#include <set>
#include <vector>

namespace cuprum::tests {

using Extents = StridedLayout::Extents;
using Axes = StridedLayout::Axes;

/// A shape and the offset of each element, in C order of the indices.
struct Elements {
  Extents shape;
  std::vector<std::int64_t> offsets;

  friend bool operator==(const Elements&, const Elements&) = default;
};

/// Calls `visit` with every index of a shape, in C order.
inline void for_each_index(const Extents& shape, const std::function<void(const Extents&)>& visit) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
  Extents index(shape.size());
  while (true) {
    visit(index);
    std::size_t axis = shape.size();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

inline Elements elements_of(const StridedLayout& layout) {
  Elements result{{layout.shape().begin(), layout.shape().end()}, {}};
  for_each_index(result.shape, [&](const Extents& index) {
    std::int64_t offset = layout.slice_offset();
    for (std::size_t axis = 0; axis < index.size(); ++axis) offset += index[axis] * layout.strides()[axis];
    result.offsets.push_back(offset);
  });
  return result;
}

/// The elements of `source` at the indices that `index_of` gives for each index of `shape`.
inline Elements gather(const Elements& source, const Extents& shape,
                       const std::function<Extents(const Extents&)>& index_of) {
  Elements result{shape, {}};
  for_each_index(shape, [&](const Extents& index) {
    const Extents from = index_of(index);
    std::int64_t position = 0;
    for (std::size_t axis = 0; axis < from.size(); ++axis) position = position * source.shape[axis] + from[axis];
    result.offsets.push_back(source.offsets.at(position));
  });
  return result;
}

/// The indices that a slice picks, found by walking along the axis.
inline std::vector<std::int64_t> picked(const Slice& slice, std::int64_t extent) {
  const bool forward = slice.step > 0;
  const auto resolve = [&](std::int64_t bound) { return bound < 0 ? bound + extent : bound; };
  const std::int64_t start = slice.start ? resolve(*slice.start) : (forward ? 0 : extent - 1);
  const std::int64_t stop = slice.stop ? resolve(*slice.stop) : (forward ? extent : -1);
  std::vector<std::int64_t> result;
  // A start outside the axis is moved to the nearest end, from which the steps then go.
  std::int64_t index = forward ? std::max<std::int64_t>(start, 0) : std::min(start, extent - 1);
  for (; forward ? index < stop : index > stop; index += slice.step) {
    if (index < 0 || index >= extent) break;
    result.push_back(index);
  }
  return result;
}

/// Makes layouts at random, always the same ones for a seed.
class LayoutMaker {
 public:
  explicit LayoutMaker(unsigned seed) : random_(seed) {}

  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool chance(int percent) { return number(1, 100) <= percent; }

  Extents shape(int max_ndim = 4, std::int64_t min_extent = 0) {
    Extents result(number(0, max_ndim));
    for (std::int64_t& extent : result)
      extent = chance(80) ? number(std::max<std::int64_t>(min_extent, 1), 5) : number(min_extent, 1);
    return result;
  }

  Axes permutation(int ndim) {
    Axes axes(ndim);
    std::iota(axes.begin(), axes.end(), 0);
    std::shuffle(axes.begin(), axes.end(), random_);
    return axes;
  }

  Slice slice(std::int64_t extent) {
    Slice result;
    if (chance(60)) result.start = number(-extent - 2, extent + 2);
    if (chance(60)) result.stop = number(-extent - 2, extent + 2);
    result.step = number(1, 3) * (chance(50) ? 1 : -1);
    return result;
  }

  std::int64_t itemsize() { return std::int64_t{1} << number(0, 4); }

  /// Dense in some order, then permuted and sliced.
  StridedLayout derived() {
    const Extents extents = shape();
    const int ndim = static_cast<int>(extents.size());
    StridedLayout layout = StridedLayout::dense(extents, itemsize(), permutation(ndim)).permuted(permutation(ndim));
    if (chance(50)) {
      std::vector<SliceItem> items;
      for (std::int64_t extent : layout.shape()) items.emplace_back(slice(extent));
      layout = layout.sliced(items);
    }
    return layout;
  }

  /// Any strides, also overlapping ones.
  StridedLayout arbitrary() {
    const Extents extents = shape();
    Extents strides(extents.size());
    for (std::int64_t& stride : strides) stride = number(-12, 12);
    return StridedLayout(extents, strides, itemsize());
  }

 private:
  std::mt19937 random_;
};

}  // namespace cuprum::tests
