// Seeing several axes as one and several elements as one: reshaping, flattening, repacking.
#include <limits>

#include "api/fixture.hpp"
#include "api/layout_reference.hpp"

namespace cuprum::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Slice backwards{.step = -1};

TEST(StridedReshape, OfADenseLayoutIsTheDenseLayoutOfTheShape) {
  const StridedLayout layout({12, 11}, 4);
  for (const Extents& shape :
       std::vector<Extents>{{132}, {11, 12}, {2, 3, 2, 11}, {2, 3, 11, 2}, {11, 2, 3, 2}, {1, 132, 1}})
    EXPECT_EQ(elements_of(layout.reshaped(shape)), (Elements{shape, elements_of(layout).offsets}));
}

TEST(StridedReshape, InfersOneExtent) {
  const StridedLayout layout({7, 6, 5}, 1);
  EXPECT_THAT(layout.reshaped({70, -1}).shape(), ElementsAre(70, 3));
  EXPECT_THAT(layout.reshaped({-1, 70}).shape(), ElementsAre(3, 70));
  EXPECT_THAT(layout.reshaped({-1}).shape(), ElementsAre(210));
  EXPECT_THAT(StridedLayout({}, 1).reshaped({1, -1, 1}).shape(), ElementsAre(1, 1, 1));
  EXPECT_THAT(StridedLayout({0}, 1).reshaped({3, -1}).shape(), ElementsAre(3, 0));
}

TEST(StridedReshape, GoesFromAndToNoDimensions) {
  EXPECT_THAT(StridedLayout({1}, 1).reshaped({}).shape(), IsEmpty());
  EXPECT_EQ(StridedLayout({}, 1).reshaped({1}), StridedLayout({1}, 1));
}

TEST(StridedReshape, OfNoElementsTakesAnyShapeWithoutElements) {
  EXPECT_EQ(StridedLayout({3, 0, 3}, 1).reshaped({2, 3, 4, 0, 12}), StridedLayout({2, 3, 4, 0, 12}, 1));
}

TEST(StridedReshape, SplitsAndMergesWhatAPermutationLeavesTogether) {
  const StridedLayout layout = StridedLayout({5, 3, 4}, 1).permuted({2, 0, 1});
  EXPECT_EQ(layout.reshaped({4, 15}), StridedLayout({4, 15}, {1, 4}, 1));
  EXPECT_EQ(layout.reshaped({2, 2, 15}), StridedLayout({2, 2, 15}, {2, 1, 4}, 1));
  EXPECT_THAT(error_of<InvalidArgument>([&] { layout.reshaped({20, 3}); }),
              HasSubstr("reshaping shape (4, 5, 3), strides (1, 12, 4), itemsize 1 to (20, 3) needs a copy"));
}

TEST(StridedReshape, OfASliceStaysWithinItsGaps) {
  const StridedLayout sliced = StridedLayout({12, 4}, 1).sliced({ellipsis, Slice{.stop = -1}});
  EXPECT_EQ(sliced.reshaped({6, 2, 3}), StridedLayout({6, 2, 3}, {8, 4, 1}, 1));
  EXPECT_THROW(sliced.reshaped({6, 6}), InvalidArgument);
}

TEST(StridedReshape, OfRowsKeepsTheOffset) {
  const StridedLayout rows = StridedLayout({13, 3}, 1)[Slice{.start = 1}];
  EXPECT_EQ(elements_of(rows.reshaped({6, 6})).offsets, elements_of(rows).offsets);
}

TEST(StridedReshape, OfBackwardsAxesMergesThoseThatGoTheSameWay) {
  const StridedLayout layout({10, 10, 10}, 1);
  EXPECT_EQ(layout.sliced({backwards, backwards, backwards}).reshaped({1000}).strides()[0], -1);
  EXPECT_NO_THROW(layout.sliced({backwards, backwards}).reshaped({100, 10}));
  EXPECT_THROW(layout.sliced({backwards, backwards}).reshaped({10, 100}), InvalidArgument);
  EXPECT_THROW(layout.sliced({backwards, Slice{}, backwards}).reshaped({1000}), InvalidArgument);
}

TEST(StridedReshape, IgnoresTheStridesOfExtentsOfOne) {
  EXPECT_EQ(StridedLayout({2, 1, 3}, {3, 77, 1}, 1).reshaped({6}), StridedLayout({6}, 1));
}

TEST(StridedReshape, OfABroadcastAxisCanSplitIt) {
  const StridedLayout layout = StridedLayout({3}, 1).broadcast_to({4, 3});
  EXPECT_EQ(layout.reshaped({2, 2, 3}), StridedLayout({2, 2, 3}, {0, 0, 1}, 1));
  EXPECT_THROW(layout.reshaped({12}), InvalidArgument);
}

TEST(StridedReshape, RefusesAnotherVolume) {
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedLayout({12}, 1).reshaped({11}); }),
              HasSubstr("that has 11 elements and the layout has 12"));
  EXPECT_THROW(StridedLayout({0}, 1).reshaped({1, 3}), InvalidArgument);
  EXPECT_THROW(StridedLayout({18}, 1).reshaped({0}), InvalidArgument);
}

TEST(StridedReshape, RefusesAnExtentThatCanNotBeInferred) {
  const StridedLayout layout({7, 6, 5}, 1);
  EXPECT_THAT(error_of<InvalidArgument>([&] { layout.reshaped({71, -1}); }), HasSubstr("71 does not divide"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { layout.reshaped({-1, 6, -1}); }),
              HasSubstr("at most one extent can be -1"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { layout.reshaped({5, 0, -1}); }), HasSubstr("-1 could be anything"));
  EXPECT_THROW(StridedLayout({7, 0, 5}, 1).reshaped({5, 0, -1}), InvalidArgument);
}

TEST(StridedReshape, RefusesNegativeExtents) {
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedLayout({7, 6}, 1).reshaped({21, -2}); }),
              HasSubstr("extents must not be negative"));
}

TEST(StridedReshape, RefusesTooManyDimensionsAndVolumesThatWrap) {
  EXPECT_THROW(StridedLayout({1}, 1).reshaped(Extents(65, 1)), InvalidArgument);
  const std::int64_t half = std::int64_t{1} << 32;
  EXPECT_THROW(StridedLayout({0}, 1).reshaped({half, half}), InvalidArgument) << "the product wraps to 0";
}

TEST(StridedReshape, OfSixtyFourAxesWithFewExtents) {
  Extents shape(64, 1);
  shape[3] = 4, shape[20] = 15, shape[50] = 12;
  EXPECT_EQ(StridedLayout(shape, 1).reshaped({60, 12}), StridedLayout({60, 12}, 1));
}

TEST(StridedFlatten, MergesAllAxesOfADenseLayout) {
  EXPECT_EQ(StridedLayout({4, 5, 3}, 4).flattened(), StridedLayout({60}, 4));
  EXPECT_EQ(StridedLayout({}, 4).flattened(), StridedLayout({1}, 4));
}

TEST(StridedFlatten, LeavesAxesThatCanNotBeMerged) {
  const StridedLayout f({3, 2}, {1, 3}, 1);
  EXPECT_EQ(f.flattened(), f);
  EXPECT_EQ(StridedLayout({4, 5, 3}, {1, 12, 4}, 4).flattened(), StridedLayout({4, 15}, {1, 4}, 4));
}

TEST(StridedFlatten, MergesOnlyTheAxesOfARange) {
  const StridedLayout layout({2, 3, 4, 5}, 1);
  EXPECT_THAT(layout.flattened(1, 2).shape(), ElementsAre(2, 12, 5));
  EXPECT_THAT(layout.flattened(0, 1).shape(), ElementsAre(6, 4, 5));
  EXPECT_THAT(layout.flattened(2).shape(), ElementsAre(2, 3, 20));
  EXPECT_THAT(layout.flattened(-2, -1).shape(), ElementsAre(2, 3, 20));
  EXPECT_EQ(layout.flattened(1, 1), layout);
  EXPECT_EQ(layout.flattened(3, 1), layout) << "an empty range";
}

TEST(StridedFlatten, RefusesAxesOutOfRange) {
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedLayout({2, 3}, 1).flattened(2); }),
              HasSubstr("axis 2 is out of range"));
  EXPECT_THROW(StridedLayout({2, 3}, 1).flattened(0, -3), InvalidArgument);
}

TEST(StridedFlatten, MasksOfSeveralLayoutsGiveThemTheSameShape) {
  const StridedLayout dense({4, 5, 3}, 4);
  const StridedLayout other({4, 5, 3}, {1, 12, 4}, 4);
  EXPECT_EQ(dense.flattened_axis_mask(), AxisMask{0b110});
  EXPECT_EQ(other.flattened_axis_mask(), AxisMask{0b100});
  const AxisMask both = dense.flattened_axis_mask() & other.flattened_axis_mask();
  EXPECT_EQ(dense.flattened(both), StridedLayout({4, 15}, {15, 1}, 4));
  EXPECT_EQ(other.flattened(both), StridedLayout({4, 15}, {1, 4}, 4));
}

TEST(StridedFlatten, AMaskDoesNotMergeWhatStridesForbid) {
  const StridedLayout f({3, 2}, {1, 3}, 1);
  EXPECT_EQ(f.flattened(AxisMask{~std::uint64_t{0}}), f);
}

TEST(StridedRepack, JoinsAndSplitsTheLastAxis) {
  const StridedLayout layout({5, 4}, 4);
  EXPECT_EQ(layout.repacked(2), StridedLayout({5, 8}, 2));
  EXPECT_EQ(layout.repacked(1), StridedLayout({5, 16}, 1));
  EXPECT_EQ(layout.repacked(4), layout);
  EXPECT_EQ(layout.repacked(8), StridedLayout({5, 2}, 8));
  EXPECT_EQ(layout.repacked(16), StridedLayout({5, 1}, 16));
}

TEST(StridedRepack, DropsAnAxisOfOneElementWhenAsked) {
  EXPECT_EQ(StridedLayout({5, 4}, 4).repacked(16, {.keep_dim = false}), StridedLayout({5}, 16));
  EXPECT_EQ(StridedLayout({5, 4}, 4).repacked(8, {.keep_dim = false}), StridedLayout({5, 2}, 8));
}

TEST(StridedRepack, WorksOnAnotherAxis) {
  EXPECT_EQ(StridedLayout::dense({4, 6}, 2, StrideOrder::f).repacked(4, {.axis = 0}),
            StridedLayout::dense({2, 6}, 4, StrideOrder::f));
}

TEST(StridedRepack, ScalesTheOffset) {
  const StridedLayout rows = StridedLayout({5, 4}, 4)[Slice{.start = 1}];
  EXPECT_EQ(rows.repacked(8).slice_offset(), 2);
  EXPECT_EQ(rows.repacked(8).slice_offset_in_bytes(), rows.slice_offset_in_bytes());
  EXPECT_EQ(rows.repacked(2).slice_offset(), 8);
}

TEST(StridedRepack, RefusesAnExtentThatIsNoMultiple) {
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedLayout({5, 3}, {4, 1}, 4).repacked(8); }),
              HasSubstr("the extent of axis 1, 3, is not a multiple of 2"));
}

TEST(StridedRepack, RefusesStridesAndOffsetsThatAreNoMultiples) {
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedLayout({5, 4}, {5, 1}, 4).repacked(8); }),
              HasSubstr("the stride of axis 0, 5, is not a multiple of 2"));
  const StridedLayout shifted = StridedLayout({5, 4}, 4).sliced({ellipsis, Slice{.start = 1, .stop = 3}});
  EXPECT_THAT(error_of<InvalidArgument>([&] { shifted.repacked(8); }),
              HasSubstr("the offset, 1, is not a multiple of 2"));
}

TEST(StridedRepack, RefusesAnAxisThatIsNotContiguous) {
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedLayout({4, 4}, 4).repacked(8, {.axis = 0}); }),
              HasSubstr("repacking axis 0: its stride is 4 and must be 1"));
  EXPECT_THROW(StridedLayout({4}, {2}, 4).repacked(2), InvalidArgument);
}

TEST(StridedRepack, RefusesAnAddressThatIsNotAligned) {
  EXPECT_NO_THROW(StridedLayout({4}, 4).repacked(8, {.data_ptr = 0x1000}));
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedLayout({4}, 4).repacked(8, {.data_ptr = 0x1004}); }),
              HasSubstr("the address 0x1004 is not aligned"));
}

TEST(StridedRepack, RefusesItemsizesThatDoNotDivideEachOther) {
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedLayout({6}, 4).repacked(6); }),
              HasSubstr("from itemsize 4 to 6: one must be a multiple of the other"));
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedLayout({6}, 4).repacked(0); }), HasSubstr("must be positive"));
}

TEST(StridedRepack, RefusesALayoutWithoutAnAxisToWorkOn) {
  EXPECT_THROW(StridedLayout({}, 4).repacked(2), InvalidArgument);
  EXPECT_THROW(StridedLayout({0}, {1}, 4).repacked(2), InvalidArgument);
  EXPECT_THROW(StridedLayout({4}, 4).repacked(2, {.axis = 1}), InvalidArgument);
}

TEST(StridedRepack, MaxCompatibleItemsizeIsTheLargestThatWorks) {
  EXPECT_EQ(StridedLayout({5, 4}, 4).max_compatible_itemsize(), 16);
  EXPECT_EQ(StridedLayout({5, 6}, 4).max_compatible_itemsize(), 8);
  EXPECT_EQ(StridedLayout({5, 3}, 4).max_compatible_itemsize(), 4);
  EXPECT_EQ(StridedLayout({5, 4}, 4).max_compatible_itemsize({.max_itemsize = 8}), 8);
  EXPECT_EQ(StridedLayout({5, 4}, 4).max_compatible_itemsize({.data_ptr = 0x1008}), 8);
  EXPECT_EQ(StridedLayout({5, 4}, {6, 1}, 4).max_compatible_itemsize(), 8) << "the other stride counts";
  EXPECT_EQ(StridedLayout({5, 4}, {-6, 1}, 4).max_compatible_itemsize(), 8);
  EXPECT_EQ((StridedLayout({8}, 4)[Slice{.start = 2, .stop = 6}].max_compatible_itemsize()), 8) << "so does the offset";
}

TEST(StridedRepack, MaxCompatibleItemsizeIsAtLeastTheOneThereIs) {
  EXPECT_EQ(StridedLayout({4}, {2}, 4).max_compatible_itemsize(), 4);
  EXPECT_EQ(StridedLayout({0}, {1}, 4).max_compatible_itemsize(), 4);
  EXPECT_EQ(StridedLayout({4}, 6).max_compatible_itemsize(), 6) << "no multiple of 6 divides 16";
  EXPECT_EQ(StridedLayout({4}, 4).max_compatible_itemsize({.data_ptr = 0x1002}), 4);
}

TEST(StridedRepack, MaxCompatibleItemsizeRefusesALimitBelowTheItemsize) {
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedLayout({4}, 8).max_compatible_itemsize({.max_itemsize = 4}); }),
              HasSubstr("the largest itemsize up to 4: the layout's own is 8"));
  EXPECT_THROW(StridedLayout({}, 8).max_compatible_itemsize(), InvalidArgument);
}

}  // namespace
}  // namespace cuprum::tests
