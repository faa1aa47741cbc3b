// Every operation on many layouts, against layouts whose elements are written out one by one.
#include "api/fixture.hpp"
#include "api/layout_reference.hpp"

namespace cuprum::tests {
namespace {

constexpr int rounds = 3000;

/// Each test has its own layouts, so that one that is added does not change those of the others.
class StridedRandom : public ::testing::Test {
 protected:
  LayoutMaker make{static_cast<unsigned>(::testing::UnitTest::GetInstance()->current_test_info()->name()[0]) * 7919u};

  StridedLayout any() { return make.chance(50) ? make.derived() : make.arbitrary(); }
};

/// The offsets in bytes of all bytes of all elements.
std::vector<std::int64_t> bytes_of(const StridedLayout& layout) {
  std::vector<std::int64_t> bytes;
  for (std::int64_t offset : elements_of(layout).offsets)
    for (std::int64_t byte = 0; byte < layout.itemsize(); ++byte) bytes.push_back(offset * layout.itemsize() + byte);
  return bytes;
}

TEST_F(StridedRandom, BoundsAreTheLeastAndTheGreatestOffset) {
  for (int i = 0; i < rounds; ++i) {
    const StridedLayout layout = any();
    const auto offsets = elements_of(layout).offsets;
    ASSERT_EQ(layout.volume(), static_cast<std::int64_t>(offsets.size())) << layout;
    if (offsets.empty()) {
      ASSERT_EQ(layout.offset_bounds(), std::pair(std::int64_t{0}, std::int64_t{-1})) << layout;
      continue;
    }
    const auto [least, greatest] = std::minmax_element(offsets.begin(), offsets.end());
    ASSERT_EQ(layout.offset_bounds(), std::pair(*least, *greatest)) << layout;
    if (*least < 0) continue;
    ASSERT_EQ(layout.required_size_in_bytes(), (*greatest + 1) * layout.itemsize()) << layout;
  }
}

TEST_F(StridedRandom, ContiguityIsAScanOfTheOffsets) {
  for (int i = 0; i < rounds; ++i) {
    const StridedLayout layout = any();
    const auto increasing = [](const StridedLayout& one) {
      const auto offsets = elements_of(one).offsets;
      for (std::size_t k = 1; k < offsets.size(); ++k)
        if (offsets[k] != offsets[k - 1] + 1) return false;
      return true;
    };
    ASSERT_EQ(layout.is_contiguous_c(), increasing(layout)) << layout;
    ASSERT_EQ(layout.is_contiguous_f(), increasing(layout.transposed())) << layout;
    Axes axes(layout.ndim());
    std::iota(axes.begin(), axes.end(), 0);
    bool some_order = false;
    do some_order |= increasing(layout.permuted(axes));
    while (std::next_permutation(axes.begin(), axes.end()));
    ASSERT_EQ(layout.is_contiguous_any(), some_order) << layout;
    ASSERT_EQ(layout.is_dense(), some_order && layout.slice_offset() == 0) << layout;
  }
}

TEST_F(StridedRandom, DerivedLayoutsAreUnique) {
  for (int i = 0; i < rounds; ++i) {
    const StridedLayout layout = make.derived();
    ASSERT_TRUE(layout.is_unique()) << layout;
  }
}

TEST_F(StridedRandom, UniqueLayoutsHaveNoOffsetTwice) {
  int unique = 0;
  for (int i = 0; i < rounds; ++i) {
    const StridedLayout layout = make.arbitrary();
    if (!layout.is_unique()) continue;
    ++unique;
    const auto offsets = elements_of(layout).offsets;
    ASSERT_EQ(std::set(offsets.begin(), offsets.end()).size(), offsets.size()) << layout;
  }
  EXPECT_GT(unique, rounds / 10);
}

TEST_F(StridedRandom, StrideOrderSortsTheStrides) {
  for (int i = 0; i < rounds; ++i) {
    const StridedLayout layout = any();
    const StridedLayout sorted = layout.permuted(layout.stride_order());
    for (int axis = 1; axis < sorted.ndim(); ++axis)
      ASSERT_GE(std::abs(sorted.strides()[axis - 1]), std::abs(sorted.strides()[axis])) << layout;
  }
}

TEST_F(StridedRandom, SlicedPicksTheElements) {
  for (int i = 0; i < rounds; ++i) {
    const StridedLayout layout = any();
    std::vector<SliceItem> items;
    std::vector<std::vector<std::int64_t>> indices;  // what is picked, per axis
    std::vector<bool> dropped;
    Extents shape;
    for (std::int64_t extent : layout.shape()) {
      dropped.push_back(extent > 0 && make.chance(25));
      if (dropped.back()) {
        const std::int64_t index = make.number(-extent, extent - 1);
        items.emplace_back(index);
        indices.push_back({index < 0 ? index + extent : index});
      } else {
        const Slice slice = make.slice(extent);
        items.emplace_back(slice);
        indices.push_back(picked(slice, extent));
        shape.push_back(static_cast<std::int64_t>(indices.back().size()));
      }
    }
    const Elements expected = gather(elements_of(layout), shape, [&](const Extents& index) {
      Extents from;
      std::size_t next = 0;
      for (std::size_t axis = 0; axis < indices.size(); ++axis)
        from.push_back(indices[axis][dropped[axis] ? 0 : index[next++]]);
      return from;
    });
    ASSERT_EQ(elements_of(layout.sliced(items)), expected) << layout;
  }
}

TEST_F(StridedRandom, PermutedMovesTheElements) {
  for (int i = 0; i < rounds; ++i) {
    const StridedLayout layout = any();
    const Axes axes = make.permutation(layout.ndim());
    Extents shape;
    for (int axis : axes) shape.push_back(layout.shape()[axis]);
    const Elements expected = gather(elements_of(layout), shape, [&](const Extents& index) {
      Extents from(index.size());
      for (std::size_t axis = 0; axis < index.size(); ++axis) from[axes[axis]] = index[axis];
      return from;
    });
    ASSERT_EQ(elements_of(layout.permuted(axes)), expected) << layout;
  }
}

TEST_F(StridedRandom, BroadcastRepeatsTheElements) {
  for (int i = 0; i < rounds; ++i) {
    const StridedLayout layout = any();
    Extents shape = make.shape(2);
    const std::size_t added = shape.size();
    for (std::int64_t extent : layout.shape()) shape.push_back(extent == 1 ? make.number(0, 4) : extent);
    const Elements expected = gather(elements_of(layout), shape, [&](const Extents& index) {
      Extents from(index.begin() + static_cast<std::ptrdiff_t>(added), index.end());
      for (std::size_t axis = 0; axis < from.size(); ++axis)
        if (layout.shape()[axis] == 1) from[axis] = 0;
      return from;
    });
    ASSERT_EQ(elements_of(layout.broadcast_to(shape)), expected) << layout;
  }
}

TEST_F(StridedRandom, SqueezingFlatteningAndUnsqueezingKeepTheElementsInOrder) {
  for (int i = 0; i < rounds; ++i) {
    const StridedLayout layout = any();
    const auto offsets = elements_of(layout).offsets;
    ASSERT_EQ(elements_of(layout.squeezed()).offsets, offsets) << layout;
    ASSERT_EQ(elements_of(layout.flattened()).offsets, offsets) << layout;
    const int ndim = layout.ndim();
    ASSERT_EQ(elements_of(layout.unsqueezed({static_cast<int>(make.number(0, ndim)), ndim + 1})).offsets, offsets)
        << layout;
    if (ndim == 0) continue;
    const int first = static_cast<int>(make.number(0, ndim - 1));
    const int last = static_cast<int>(make.number(0, ndim - 1));
    ASSERT_EQ(elements_of(layout.flattened(first, last)).offsets, offsets) << layout;
    ASSERT_EQ(layout.flattened(layout.flattened_axis_mask()), layout.flattened()) << layout;
  }
}

/// A shape of the same volume.
Extents regrouped(LayoutMaker& make, std::int64_t volume) {
  Extents shape;
  for (std::int64_t factor = 2; volume > 1;) {
    if (volume % factor != 0) {
      ++factor;
    } else {
      volume /= factor;
      if (!shape.empty() && make.chance(40)) {
        shape.back() *= factor;
      } else {
        shape.insert(shape.begin() + make.number(0, static_cast<std::int64_t>(shape.size())), factor);
      }
      if (make.chance(10)) shape.push_back(1);
    }
  }
  return shape;
}

/// Whether any strides put the elements in this order under this shape: they would be the differences along the axes.
bool has_strides(const Extents& shape, const std::vector<std::int64_t>& offsets) {
  const Elements elements{shape, offsets};
  Extents strides(shape.size());
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] < 2) continue;
    std::int64_t below = 1;
    for (std::size_t k = axis + 1; k < shape.size(); ++k) below *= shape[k];
    strides[axis] = offsets.at(below) - offsets[0];
  }
  bool fits = true;
  std::size_t position = 0;
  for_each_index(shape, [&](const Extents& index) {
    std::int64_t offset = offsets[0];
    for (std::size_t axis = 0; axis < shape.size(); ++axis) offset += index[axis] * strides[axis];
    fits &= offset == offsets[position++];
  });
  return fits;
}

TEST_F(StridedRandom, ReshapedWorksExactlyWhereStridesExist) {
  int possible = 0;
  int impossible = 0;
  for (int i = 0; i < rounds; ++i) {
    const StridedLayout layout = any();
    if (layout.volume() == 0) continue;
    const Extents shape = regrouped(make, layout.volume());
    const auto offsets = elements_of(layout).offsets;
    if (has_strides(shape, offsets)) {
      ++possible;
      ASSERT_EQ(elements_of(layout.reshaped(shape)), (Elements{shape, offsets})) << layout;
    } else {
      ++impossible;
      ASSERT_THROW(layout.reshaped(shape), InvalidArgument) << layout << " to " << ::testing::PrintToString(shape);
    }
  }
  EXPECT_GT(possible, rounds / 10);
  EXPECT_GT(impossible, rounds / 10);
}

TEST_F(StridedRandom, RepackedKeepsTheBytes) {
  int repacked = 0;
  for (int i = 0; i < rounds; ++i) {
    const StridedLayout layout = make.derived();
    for (std::int64_t itemsize : {1, 2, 4, 8, 16, 32}) {
      for (int axis = 0; axis < layout.ndim(); ++axis) {
        try {
          const StridedLayout other = layout.repacked(itemsize, {.axis = axis, .keep_dim = make.chance(50)});
          auto before = bytes_of(layout);
          auto after = bytes_of(other);
          if (axis != layout.ndim() - 1) {  // split and joined elsewhere, the order of the bytes differs
            std::sort(before.begin(), before.end());
            std::sort(after.begin(), after.end());
          }
          ASSERT_EQ(before, after) << layout << " as itemsize " << itemsize;
          ++repacked;
        } catch (const InvalidArgument&) {
          continue;
        }
      }
    }
  }
  EXPECT_GT(repacked, rounds);
}

TEST_F(StridedRandom, MaxCompatibleItemsizeIsTheLargestPowerOfTwoThatRepackedTakes) {
  for (int i = 0; i < rounds; ++i) {
    const StridedLayout layout = make.derived();
    if (layout.ndim() == 0) continue;
    const int axis = static_cast<int>(make.number(0, layout.ndim() - 1));
    const std::uint64_t data_ptr = 4096 + static_cast<std::uint64_t>(make.number(0, 8)) * layout.itemsize();
    const auto works = [&](std::int64_t itemsize) {
      try {
        layout.repacked(itemsize, {.data_ptr = data_ptr, .axis = axis});
        return true;
      } catch (const InvalidArgument&) {
        return itemsize == layout.itemsize();
      }
    };
    std::int64_t largest = layout.itemsize();
    for (std::int64_t itemsize = layout.itemsize(); itemsize <= 16; itemsize *= 2)
      if (works(itemsize)) largest = itemsize;
    ASSERT_EQ(layout.max_compatible_itemsize({.data_ptr = data_ptr, .axis = axis}), largest)
        << layout << " axis " << axis;
  }
}

TEST_F(StridedRandom, ToDenseHasTheShapeWithoutGaps) {
  for (int i = 0; i < rounds; ++i) {
    const StridedLayout layout = any();
    for (StrideOrder order : {StrideOrder::c, StrideOrder::f, StrideOrder::keep}) {
      const StridedLayout dense = layout.to_dense(order);
      ASSERT_TRUE(dense.is_dense()) << layout;
      ASSERT_TRUE(std::ranges::equal(dense.shape(), layout.shape())) << layout;
      ASSERT_EQ(dense.required_size_in_bytes(), layout.volume() * layout.itemsize()) << layout;
    }
    if (!layout.is_dense() || layout.volume() == 0) continue;
    ASSERT_EQ(elements_of(layout.to_dense()), elements_of(layout)) << layout;
  }
}

}  // namespace
}  // namespace cuprum::tests
