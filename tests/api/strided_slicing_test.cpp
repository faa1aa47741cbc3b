// Slicing, permuting, and adding, removing and repeating axes.
#include <limits>

#include "api/fixture.hpp"
#include "api/layout_reference.hpp"

namespace cuprum::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t big = std::numeric_limits<std::int64_t>::max();

struct SliceCase {
  const char* name;
  Slice slice;
  std::vector<std::int64_t> indices;  ///< of an axis of 6, as Python's slices pick them
};

class StridedSlicing : public ::testing::TestWithParam<SliceCase> {};

TEST_P(StridedSlicing, PicksWhatPythonPicks) {
  const StridedLayout sliced = StridedLayout({6}, 1)[GetParam().slice];
  EXPECT_EQ(elements_of(sliced).offsets, GetParam().indices);
  EXPECT_EQ(picked(GetParam().slice, 6), GetParam().indices) << "the reference of the random tests is wrong";
}

INSTANTIATE_TEST_SUITE_P(
    Slices, StridedSlicing,
    ::testing::Values(SliceCase{"Everything", {}, {0, 1, 2, 3, 4, 5}}, SliceCase{"FromAStart", {.start = 4}, {4, 5}},
                      SliceCase{"UpToAStop", {.stop = 2}, {0, 1}},
                      SliceCase{"Between", {.start = 1, .stop = 4}, {1, 2, 3}},
                      SliceCase{"EverySecond", {.step = 2}, {0, 2, 4}},
                      SliceCase{"EverySecondOfSome", {.start = 1, .stop = 6, .step = 2}, {1, 3, 5}},
                      SliceCase{"AStepBeyondTheAxis", {.start = 1, .step = 100}, {1}},
                      SliceCase{"NegativeBoundsFromTheEnd", {.start = -3, .stop = -1}, {3, 4}},
                      SliceCase{"BoundsBeyondTheAxisAreCut", {.start = -100, .stop = 100}, {0, 1, 2, 3, 4, 5}},
                      SliceCase{"AnEmptyOneForAStopBeforeTheStart", {.start = 4, .stop = 2}, {}},
                      SliceCase{"AnEmptyOneForAStartBeyondTheAxis", {.start = 6}, {}},
                      SliceCase{"AnEmptyOneForEqualBounds", {.start = 3, .stop = 3}, {}},
                      SliceCase{"Backwards", {.step = -1}, {5, 4, 3, 2, 1, 0}},
                      SliceCase{"BackwardsFromAStart", {.start = 2, .step = -1}, {2, 1, 0}},
                      SliceCase{"BackwardsToAStop", {.stop = 3, .step = -1}, {5, 4}},
                      SliceCase{"BackwardsBySeveral", {.start = -1, .stop = 0, .step = -2}, {5, 3, 1}},
                      SliceCase{"BackwardsFromBeyondTheAxis", {.start = 100, .step = -2}, {5, 3, 1}},
                      SliceCase{"BackwardsToBeforeTheAxis", {.start = 1, .stop = -100, .step = -1}, {1, 0}},
                      SliceCase{"AnEmptyOneForBackwardsFromBeforeTheAxis", {.start = -100, .step = -1}, {}},
                      SliceCase{"AnEmptyOneForBackwardsInTheWrongDirection", {.start = 1, .stop = 4, .step = -1}, {}}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(StridedSlicingTest, AnIndexDropsItsAxis) {
  const StridedLayout row = StridedLayout({4, 6}, 4)[2];
  EXPECT_THAT(row.shape(), ElementsAre(6));
  EXPECT_EQ(row.slice_offset(), 12);
  EXPECT_EQ(StridedLayout({4, 6}, 4)[-1].slice_offset(), 18);
}

TEST(StridedSlicingTest, IndicesForAllAxesLeaveOneElement) {
  const StridedLayout element = StridedLayout({4, 6}, 4).sliced({1, 2});
  EXPECT_EQ(element.ndim(), 0);
  EXPECT_EQ(element.volume(), 1);
  EXPECT_EQ(element.slice_offset(), 8);
}

TEST(StridedSlicingTest, AxesWithoutAnItemStayWhole) {
  const StridedLayout layout = StridedLayout({4, 6, 2}, 4)[Slice{.start = 1, .stop = 3}];
  EXPECT_THAT(layout.shape(), ElementsAre(2, 6, 2));
  EXPECT_THAT(layout.strides(), ElementsAre(12, 2, 1));
}

TEST(StridedSlicingTest, AnEllipsisStandsForTheAxesInBetween) {
  const StridedLayout layout({2, 3, 4, 5}, 1);
  EXPECT_EQ(layout.sliced({0, ellipsis, 4}), layout.sliced({0, Slice{}, Slice{}, 4}));
  EXPECT_EQ(layout.sliced({ellipsis, 4}), layout.sliced({Slice{}, Slice{}, Slice{}, 4}));
  EXPECT_EQ(layout.sliced({ellipsis}), layout);
  EXPECT_EQ(layout.sliced({0, 1, ellipsis, 2, 3}), layout.sliced({0, 1, 2, 3})) << "it may stand for none";
}

TEST(StridedSlicingTest, SlicesOfSlicesAddUp) {
  const StridedLayout layout = StridedLayout({13}, 1)[Slice{.start = -3, .stop = 2, .step = -2}];
  EXPECT_EQ(elements_of(layout).offsets, (std::vector<std::int64_t>{10, 8, 6, 4}));
  EXPECT_EQ(elements_of(layout[Slice{.start = 1, .stop = 3}]).offsets, (std::vector<std::int64_t>{8, 6}));
  EXPECT_EQ(StridedLayout({13}, 1)[Slice{.step = -1}][Slice{.step = -1}], StridedLayout({13}, 1));
}

TEST(StridedSlicingTest, AnEmptySliceLeavesNoStrides) {
  const StridedLayout layout = StridedLayout({4, 6}, 1).sliced({1, Slice{.start = 3, .stop = 3}});
  EXPECT_THAT(layout.shape(), ElementsAre(0));
  EXPECT_THAT(layout.strides(), ElementsAre(0));
  EXPECT_EQ(layout.volume(), 0);
}

TEST(StridedSlicingTest, NoItemsChangeNothing) {
  EXPECT_EQ(StridedLayout({}, 4).sliced({}), StridedLayout({}, 4));
  EXPECT_EQ(StridedLayout({4}, 4).sliced({}), StridedLayout({4}, 4));
}

TEST(StridedSlicingTest, ExtremeStepsPickOneElement) {
  const StridedLayout layout({6}, 1);
  EXPECT_EQ(elements_of(layout[Slice{.step = big}]).offsets, (std::vector<std::int64_t>{0}));
  EXPECT_EQ(elements_of(layout[Slice{.step = std::numeric_limits<std::int64_t>::min()}]).offsets,
            (std::vector<std::int64_t>{5}));
  EXPECT_EQ(elements_of(layout[Slice{.start = -big - 1, .stop = big}]).offsets.size(), 6u);
}

TEST(StridedSlicingTest, RefusesAnIndexOutsideItsAxis) {
  const StridedLayout layout({4, 6}, 4);
  EXPECT_THAT(error_of<InvalidArgument>([&] { layout.sliced({0, 6}); }),
              HasSubstr("index 6 is out of range for axis 1 with extent 6"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { layout[-5]; }), HasSubstr("index -5 is out of range for axis 0"));
  EXPECT_THROW(StridedLayout({0}, 4)[0], InvalidArgument);
}

TEST(StridedSlicingTest, RefusesAStepOfZero) {
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedLayout({4, 6}, 4).sliced({Slice{}, Slice{.step = 0}}); }),
              HasSubstr("slicing axis 1: the step must not be 0"));
}

TEST(StridedSlicingTest, RefusesMoreItemsThanAxes) {
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedLayout({4}, 4).sliced({0, 0}); }),
              HasSubstr("slicing: 2 items for 1 dimensions"));
  EXPECT_THROW(StridedLayout({4}, 4).sliced({0, ellipsis, 0}), InvalidArgument);
}

TEST(StridedSlicingTest, RefusesTwoEllipses) {
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedLayout({4, 2}, 4).sliced({ellipsis, ellipsis}); }),
              HasSubstr("there can be one ellipsis"));
}

TEST(StridedSlicingTest, RefusesAStrideBeyond64Bits) {
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedLayout({6, 4}, 1)[Slice{.step = big}]; }),
              HasSubstr("the stride of axis 0 does not fit into 64 bits"));
}

TEST(StridedAxes, PermutedTakesAxesInTheGivenOrder) {
  const StridedLayout layout = StridedLayout({5, 3, 7}, 1).permuted({2, 0, 1});
  EXPECT_THAT(layout.shape(), ElementsAre(7, 5, 3));
  EXPECT_THAT(layout.strides(), ElementsAre(1, 21, 7));
  EXPECT_EQ(StridedLayout({5, 3, 7}, 1).permuted({-1, 0, 1}), layout);
}

TEST(StridedAxes, PermutedKeepsTheOffset) {
  EXPECT_EQ(StridedLayout({5, 3}, 1)[Slice{.start = 2}].permuted({1, 0}).slice_offset(), 6);
}

TEST(StridedAxes, PermutedRefusesWhatIsNoPermutation) {
  const StridedLayout layout({5, 3, 7}, 1);
  EXPECT_THAT(error_of<InvalidArgument>([&] { layout.permuted({0, 1}); }), HasSubstr("a permutation of 3 dimensions"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { layout.permuted({0, 1, 1}); }),
              HasSubstr("axis 1 appears more than once"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { layout.permuted({0, 2, -1}); }),
              HasSubstr("axis -1 appears more than once"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { layout.permuted({0, 1, 3}); }), HasSubstr("axis 3 is out of range"));
  EXPECT_THROW(layout.permuted({0, 1, -4}), InvalidArgument);
}

TEST(StridedAxes, TransposedReversesTheAxes) {
  EXPECT_EQ(StridedLayout({5, 3, 7}, 1).transposed(), StridedLayout({5, 3, 7}, 1).permuted({2, 1, 0}));
  EXPECT_EQ(StridedLayout({}, 1).transposed(), StridedLayout({}, 1));
}

TEST(StridedAxes, SqueezedDropsExtentsOfOne) {
  EXPECT_EQ(StridedLayout({1, 4, 1, 3, 1}, 2).squeezed(), StridedLayout({4, 3}, 2));
  EXPECT_THAT(StridedLayout({1, 1}, 2).squeezed().shape(), IsEmpty());
}

TEST(StridedAxes, SqueezedMakesAnEmptyLayoutOneDimensional) {
  EXPECT_EQ(StridedLayout({1, 4, 0, 3}, 2).squeezed(), StridedLayout({0}, {0}, 2));
}

TEST(StridedAxes, UnsqueezedAddsExtentsOfOne) {
  const StridedLayout layout({4, 3}, 2);
  EXPECT_THAT(layout.unsqueezed(0).shape(), ElementsAre(1, 4, 3));
  EXPECT_THAT(layout.unsqueezed(1).shape(), ElementsAre(4, 1, 3));
  EXPECT_THAT(layout.unsqueezed(2).shape(), ElementsAre(4, 3, 1));
  EXPECT_THAT(layout.unsqueezed(-1).shape(), ElementsAre(4, 3, 1));
  EXPECT_THAT(layout.unsqueezed({0, 2, 4}).shape(), ElementsAre(1, 4, 1, 3, 1));
}

TEST(StridedAxes, UnsqueezedAxesCanBeMergedAgain) {
  EXPECT_THAT(StridedLayout({4, 3}, 2).unsqueezed({0, 2}).strides(), ElementsAre(12, 3, 3, 1));
  EXPECT_EQ(StridedLayout({4, 3}, 2).unsqueezed({0, 2}).flattened(), StridedLayout({12}, 2));
  EXPECT_EQ(StridedLayout({}, 2).unsqueezed(0), StridedLayout({1}, 2));
}

TEST(StridedAxes, UnsqueezedOfNoAxesChangesNothing) {
  EXPECT_EQ(StridedLayout({4, 3}, 2).unsqueezed(Axes{}), StridedLayout({4, 3}, 2));
}

TEST(StridedAxes, UnsqueezedRefusesAxesThatCanNotBe) {
  const StridedLayout layout({4, 3}, 2);
  EXPECT_THAT(error_of<InvalidArgument>([&] { layout.unsqueezed(3); }),
              HasSubstr("axis 3 is out of range for 3 dimensions"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { layout.unsqueezed({1, 1}); }),
              HasSubstr("axis 1 appears more than once"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { StridedLayout(Extents(64, 1), 1).unsqueezed(0); }),
              HasSubstr("adding 1 axes to 64 dimensions"));
}

TEST(StridedAxes, BroadcastToRepeatsWithStrideZero) {
  const StridedLayout layout = StridedLayout({3, 1}, 4).broadcast_to({5, 3, 7});
  EXPECT_THAT(layout.shape(), ElementsAre(5, 3, 7));
  EXPECT_THAT(layout.strides(), ElementsAre(0, 1, 0));
  EXPECT_FALSE(layout.is_unique());
  EXPECT_EQ(layout.required_size_in_bytes(), 12);
}

TEST(StridedAxes, BroadcastToTheSameShapeChangesNothing) {
  EXPECT_EQ(StridedLayout({3, 2}, 4).broadcast_to({3, 2}), StridedLayout({3, 2}, 4));
  EXPECT_EQ(StridedLayout({}, 4).broadcast_to({}), StridedLayout({}, 4));
}

TEST(StridedAxes, BroadcastToNoElements) {
  EXPECT_EQ(StridedLayout({3, 1}, 4).broadcast_to({3, 0}).volume(), 0);
  EXPECT_EQ(StridedLayout({0}, 4).broadcast_to({4, 0}).volume(), 0);
}

TEST(StridedAxes, BroadcastToRefusesAnotherShape) {
  const StridedLayout layout({3, 2}, 4);
  EXPECT_THAT(error_of<InvalidArgument>([&] { layout.broadcast_to({3, 4}); }),
              HasSubstr("axis 1 has extent 2, and only an extent of 1 can become 4"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { layout.broadcast_to({2}); }), HasSubstr("fewer axes"));
  EXPECT_THROW(layout.broadcast_to({3, 0}), InvalidArgument);
  EXPECT_THROW(layout.broadcast_to({-1, 3, 2}), InvalidArgument);
  EXPECT_THROW(StridedLayout({1, 1, 1}, 1).broadcast_to({big, big, big}), InvalidArgument);
}

}  // namespace
}  // namespace cuprum::tests
