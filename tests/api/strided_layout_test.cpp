// What a layout is, what it says about itself, and what it refuses to be.
#include <limits>
#include <sstream>

#include "api/fixture.hpp"
#include "api/layout_reference.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr std::int64_t big = std::numeric_limits<std::int64_t>::max();

TEST(StridedLayout, WithoutStridesIsDenseInCOrder) {
  const StridedLayout layout({5, 3, 7}, 4);
  EXPECT_THAT(layout.shape(), ElementsAre(5, 3, 7));
  EXPECT_THAT(layout.strides(), ElementsAre(21, 7, 1));
  EXPECT_THAT(layout.strides_in_bytes(), ElementsAre(84, 28, 4));
  EXPECT_EQ(layout.ndim(), 3);
  EXPECT_EQ(layout.volume(), 105);
  EXPECT_EQ(layout.itemsize(), 4);
  EXPECT_EQ(layout.required_size_in_bytes(), 420);
  EXPECT_EQ(layout, StridedLayout::dense({5, 3, 7}, 4));
}

TEST(StridedLayout, DenseInFOrderHasTheFirstAxisContiguous) {
  EXPECT_THAT(StridedLayout::dense({5, 3, 7}, 1, StrideOrder::f).strides(), ElementsAre(1, 5, 15));
}

TEST(StridedLayout, DenseInTheOrderOfAPermutationEndsWithTheContiguousAxis) {
  const StridedLayout layout = StridedLayout::dense({5, 3, 7}, 1, {2, 0, 1});
  EXPECT_THAT(layout.strides(), ElementsAre(3, 1, 15));
  EXPECT_THAT(layout.stride_order(), ElementsAre(2, 0, 1));
}

TEST(StridedLayout, APermutationMayCountAxesFromTheEnd) {
  EXPECT_EQ(StridedLayout::dense({5, 3, 7}, 1, {-1, 0, -2}), StridedLayout::dense({5, 3, 7}, 1, {2, 0, 1}));
}

TEST(StridedLayout, OfNoDimensionsHasOneElement) {
  const StridedLayout scalar({}, 8);
  EXPECT_EQ(scalar.ndim(), 0);
  EXPECT_EQ(scalar.volume(), 1);
  EXPECT_THAT(scalar.shape(), IsEmpty());
  EXPECT_THAT(scalar.offset_bounds(), Pair(0, 0));
  EXPECT_EQ(scalar.required_size_in_bytes(), 8);
  EXPECT_TRUE(scalar.is_contiguous_c() && scalar.is_contiguous_f() && scalar.is_dense() && scalar.is_unique());
}

TEST(StridedLayout, WithAnExtentOfZeroHasNoElements) {
  const StridedLayout empty({3, 0, 2}, 4);
  EXPECT_EQ(empty.volume(), 0);
  EXPECT_THAT(empty.strides(), ElementsAre(0, 0, 0));
  EXPECT_THAT(empty.offset_bounds(), Pair(0, -1));
  EXPECT_EQ(empty.required_size_in_bytes(), 0);
  EXPECT_TRUE(empty.is_contiguous_c() && empty.is_contiguous_f() && empty.is_contiguous_any() && empty.is_unique());
}

TEST(StridedLayout, TakesStridesInBytesWhenTold) {
  EXPECT_EQ(StridedLayout({2, 3}, {24, -8}, 8, /*divide_strides=*/true), StridedLayout({2, 3}, {3, -1}, 8));
}

TEST(StridedLayout, NegativeStridesReachBelowTheBeginning) {
  const StridedLayout layout({4, 3}, {-3, 1}, 2);
  EXPECT_THAT(layout.offset_bounds(), Pair(-9, 2));
  EXPECT_EQ(layout.min_offset(), -9);
  EXPECT_EQ(layout.max_offset(), 2);
}

TEST(StridedLayout, TheSizeOfALayoutThatReachesBelowTheBeginningIsRefused) {
  const StridedLayout layout({4, 3}, {-3, 1}, 2);
  EXPECT_THAT(error_of<InvalidArgument>([&] { layout.required_size_in_bytes(); }),
              AllOf(HasSubstr("shape (4, 3), strides (-3, 1)"), HasSubstr("9 before the beginning")));
}

TEST(StridedLayout, GapsCountForTheSizeAndNotForTheVolume) {
  const StridedLayout padded({4, 3}, {8, 2}, 4);
  EXPECT_EQ(padded.volume(), 12);
  EXPECT_EQ(padded.required_size_in_bytes(), (3 * 8 + 2 * 2 + 1) * 4);
}

TEST(StridedLayout, ContiguityIsTheAxesOrder) {
  const StridedLayout c = StridedLayout::dense({5, 3, 7}, 1);
  EXPECT_TRUE(c.is_contiguous_c() && !c.is_contiguous_f() && c.is_contiguous_any());
  const StridedLayout f = c.permuted({2, 1, 0});
  EXPECT_TRUE(!f.is_contiguous_c() && f.is_contiguous_f() && f.is_contiguous_any());
  const StridedLayout other = c.permuted({2, 0, 1});
  EXPECT_TRUE(!other.is_contiguous_c() && !other.is_contiguous_f() && other.is_contiguous_any());
}

TEST(StridedLayout, AGapEndsContiguity) {
  const StridedLayout sliced = StridedLayout({5, 7}, 1).sliced({ellipsis, Slice{.stop = -1}});
  EXPECT_FALSE(sliced.is_contiguous_c() || sliced.is_contiguous_f() || sliced.is_contiguous_any());
  EXPECT_TRUE(sliced.is_unique());
}

TEST(StridedLayout, StridesOfExtentsOfOneDoNotMatterForContiguity) {
  const StridedLayout layout({1, 4, 1}, {77, 1, -5}, 4);
  EXPECT_TRUE(layout.is_contiguous_c() && layout.is_contiguous_f() && layout.is_dense() && layout.is_unique());
}

TEST(StridedLayout, ABackwardsLayoutIsNotContiguous) {
  const StridedLayout backwards({4}, {-1}, 1);
  EXPECT_FALSE(backwards.is_contiguous_any());
  EXPECT_TRUE(backwards.is_unique());
}

TEST(StridedLayout, AnOffsetEndsDensityAndNotContiguity) {
  const StridedLayout tail = StridedLayout({5, 7}, 1)[Slice{.start = 1}];
  EXPECT_EQ(tail.slice_offset(), 7);
  EXPECT_TRUE(tail.is_contiguous_c());
  EXPECT_FALSE(tail.is_dense());
}

TEST(StridedLayout, TheOffsetInBytesIsThatManyItems) {
  EXPECT_EQ(StridedLayout({5, 7}, 8)[2].slice_offset_in_bytes(), 2 * 7 * 8);
}

TEST(StridedLayout, RepeatedElementsAreNotUnique) {
  EXPECT_FALSE(StridedLayout({4, 3}, {0, 1}, 1).is_unique());
  EXPECT_FALSE(StridedLayout({4, 3}, {2, 1}, 1).is_unique());
  EXPECT_TRUE(StridedLayout({4, 3}, {3, 1}, 1).is_unique());
  EXPECT_TRUE(StridedLayout({1, 3}, {0, 1}, 1).is_unique());
}

TEST(StridedLayout, UniquenessOfInterleavedStridesIsUnderstated) {
  const StridedLayout interleaved({2, 3}, {3, 2}, 1);  // offsets 0 2 4 3 5 7
  EXPECT_FALSE(interleaved.is_unique());
}

TEST(StridedLayout, StrideOrderSortsBySizeNotSign) {
  EXPECT_THAT(StridedLayout({2, 3, 4}, {1, -100, 10}, 1).stride_order(), ElementsAre(1, 2, 0));
}

TEST(StridedLayout, StrideOrderOfEqualStridesPutsTheLargerExtentFirst) {
  EXPECT_THAT(StridedLayout({2, 5, 5}, {1, 1, 1}, 1).stride_order(), ElementsAre(1, 2, 0));
}

TEST(StridedLayout, OffsetOfOneElement) {
  const StridedLayout layout = StridedLayout({4, 6}, 4).sliced({Slice{.start = 1}, Slice{.step = -2}});
  EXPECT_EQ(layout.offset_of({0, 0}), 6 + 5);
  EXPECT_EQ(layout.offset_of({2, 2}), 3 * 6 + 1);
  EXPECT_EQ(StridedLayout({}, 4).offset_of({}), 0);
}

TEST(StridedLayout, OffsetOfRefusesAnIndexOutsideTheShape) {
  const StridedLayout layout({4, 6}, 4);
  EXPECT_THAT(error_of<InvalidArgument>([&] { layout.offset_of({4, 0}); }),
              HasSubstr("index (4, 0) is outside shape (4, 6)"));
  EXPECT_THROW(layout.offset_of({0, -1}), InvalidArgument);
  EXPECT_THAT(error_of<InvalidArgument>([&] { layout.offset_of({1}); }), HasSubstr("takes 2 numbers"));
}

TEST(StridedLayout, DenseLikeKeepsTheOrderAndDropsGapsAndOffset) {
  const StridedLayout sliced = StridedLayout::dense({5, 3, 8}, 2, {2, 0, 1}).sliced({Slice{.start = 1}, ellipsis});
  const StridedLayout dense = StridedLayout::dense_like(sliced);
  EXPECT_EQ(dense, StridedLayout::dense({4, 3, 8}, 2, {2, 0, 1}));
  EXPECT_TRUE(dense.is_dense());
  EXPECT_EQ(dense, sliced.to_dense());
}

TEST(StridedLayout, ToDenseTakesAnotherOrder) {
  const StridedLayout layout = StridedLayout({5, 3, 7}, 1).permuted({2, 0, 1});
  EXPECT_EQ(layout.to_dense(StrideOrder::c), StridedLayout({7, 5, 3}, {15, 3, 1}, 1));
  EXPECT_EQ(layout.to_dense(StrideOrder::f), StridedLayout({7, 5, 3}, {1, 7, 35}, 1));
  EXPECT_EQ(layout.to_dense({1, 2, 0}), StridedLayout({7, 5, 3}, {1, 21, 7}, 1));
}

TEST(StridedLayout, ToDenseOfABroadcastLayoutHasRoomForAllElements) {
  const StridedLayout dense = StridedLayout({3}, 1).broadcast_to({4, 3}).to_dense();
  EXPECT_TRUE(dense.is_dense());
  EXPECT_EQ(dense.volume(), 12);
}

TEST(StridedLayout, EqualityIsOfShapeStridesItemsizeAndOffset) {
  const StridedLayout layout({4, 3}, 4);
  EXPECT_EQ(layout, StridedLayout({4, 3}, {3, 1}, 4));
  EXPECT_NE(layout, StridedLayout({4, 3}, {1, 4}, 4));
  EXPECT_NE(layout, StridedLayout({4, 3}, 8));
  EXPECT_NE(layout, StridedLayout({3, 4}, 4));
  EXPECT_NE(layout, StridedLayout({12}, 4));
  EXPECT_NE(StridedLayout({5, 3}, 4)[Slice{.start = 1}], layout);
}

TEST(StridedLayout, PrintsItself) {
  std::ostringstream out;
  out << StridedLayout({5, 3}, 4)[Slice{.start = 1}];
  EXPECT_EQ(out.str(), "shape (4, 3), strides (3, 1), itemsize 4, offset 3");
}

TEST(StridedLayout, TakesSixtyFourDimensions) {
  const StridedLayout layout(Extents(64, 1), 1);
  EXPECT_EQ(layout.ndim(), 64);
  EXPECT_TRUE(layout.is_dense());
  EXPECT_EQ(layout.flattened().ndim(), 1);
}

TEST(StridedLayout, RefusesMoreDimensions) {
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedLayout(Extents(65, 1), 1); }),
              HasSubstr("a layout of 65 dimensions: there can be at most 64"));
}

TEST(StridedLayout, RefusesANegativeExtent) {
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedLayout({4, -1}, 4); }),
              HasSubstr("shape (4, -1): extents must not be negative"));
  EXPECT_THROW(StridedLayout({-4}, {1}, 4), InvalidArgument);
}

TEST(StridedLayout, RefusesAnItemsizeThatIsNotPositive) {
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedLayout({4}, 0); }), HasSubstr("itemsize 0: it must be positive"));
  EXPECT_THROW(StridedLayout({4}, {1}, -4), InvalidArgument);
  EXPECT_THROW(StridedLayout({4}, {4}, 0, true), InvalidArgument);
}

TEST(StridedLayout, RefusesAnotherNumberOfStridesThanExtents) {
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedLayout({4, 3}, {1}, 4); }),
              HasSubstr("shape (4, 3) and strides (1): there must be one stride for each of the 2 extents"));
}

TEST(StridedLayout, RefusesStridesInBytesThatItemsDoNotDivide) {
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedLayout({4, 3}, {14, 4}, 4, true); }),
              HasSubstr("strides of (14, 4) bytes: they must be multiples of the itemsize, 4"));
}

TEST(StridedLayout, DenseRefusesWhatIsNoPermutation) {
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedLayout::dense({4, 3}, 4, {0, 0}); }),
              HasSubstr("axis 0 appears more than once"));
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedLayout::dense({4, 3}, 4, {0, 2}); }),
              HasSubstr("axis 2 is out of range for 2 dimensions"));
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedLayout::dense({4, 3}, 4, {0}); }),
              HasSubstr("a permutation of 2 dimensions names each of them once"));
}

TEST(StridedLayout, DenseHasNoOrderToKeep) {
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedLayout::dense({4, 3}, 4, StrideOrder::keep); }),
              HasSubstr("'keep' needs a layout to keep it from"));
}

TEST(StridedLayout, RefusesAVolumeBeyond64Bits) {
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedLayout({big, 2}, 1); }),
              HasSubstr("the volume of shape (9223372036854775807, 2) does not fit into 64 bits"));
  EXPECT_THROW(StridedLayout({big, big}, {0, 0}, 1), InvalidArgument);
}

TEST(StridedLayout, RefusesASizeInBytesBeyond64Bits) {
  EXPECT_THROW(StridedLayout({big / 4}, 8), InvalidArgument);
  EXPECT_EQ(StridedLayout({big / 8}, 8).required_size_in_bytes(), big - 7);
}

TEST(StridedLayout, RefusesOffsetsBeyond64Bits) {
  EXPECT_THROW(StridedLayout({3}, {big / 2 + 1}, 1), InvalidArgument);
  EXPECT_THROW(StridedLayout({2, 2}, {big / 2 + 1, big / 2 + 1}, 1), InvalidArgument);
  EXPECT_THROW(StridedLayout({2, 2}, {-big / 2 - 2, -big / 2 - 2}, 1), InvalidArgument);
  EXPECT_THROW(StridedLayout({2, 2}, {-big / 2 - 2, big / 2 + 2}, 1), InvalidArgument) << "too far apart";
}

TEST(StridedLayout, RefusesStridesInBytesBeyond64BitsEvenIfNothingUsesThem) {
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedLayout({1}, {big}, 2); }), HasSubstr("a stride in bytes"));
  EXPECT_THROW(StridedLayout({1}, {std::numeric_limits<std::int64_t>::min()}, 1), InvalidArgument);
}

TEST(StridedLayout, AnExtentOfZeroMakesUpForHugeOnes) {
  EXPECT_EQ(StridedLayout({big, 0, big}, 8).volume(), 0);
  EXPECT_EQ(StridedLayout({big, big, 0}, 8).volume(), 0);
}

TEST(StridedLayout, LeavesASingleElementWhereItWasMovedFrom) {
  const StridedLayout part = StridedLayout({4, 6}, 4)[Slice{.start = 2}];
  const StridedLayout element({}, 4);
  StridedLayout layout = part;
  StridedLayout taken = std::move(layout);
  EXPECT_EQ(taken, part);
  EXPECT_EQ(layout, element);  // NOLINT(bugprone-use-after-move): that is what this is about
  EXPECT_EQ(layout.volume(), element.volume());
  EXPECT_EQ(layout.offset_bounds(), element.offset_bounds());
  EXPECT_THROW(static_cast<void>(layout.reshaped({2, 6})), InvalidArgument);

  layout = std::move(taken);
  EXPECT_EQ(layout, part);
  EXPECT_EQ(layout.offset_bounds(), part.offset_bounds());
  EXPECT_EQ(taken.volume(), 1);  // NOLINT(bugprone-use-after-move)
}

}  // namespace
}  // namespace cuprum::tests
