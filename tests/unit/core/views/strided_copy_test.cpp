// How many calls of the driver a copy takes, and which.
#include "core/views/strided_copy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuprum::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t max_pitch = 2147483647;

CopyPlan plan(const StridedLayout& destination, const StridedLayout& source) {
  return plan_copy(destination, source, max_pitch);
}

TEST(StridedCopyPlan, ContiguousViewsAreOneRow) {
  const CopyPlan copy = plan(StridedLayout({5, 7, 3}, 4), StridedLayout({5, 7, 3}, 4));
  EXPECT_EQ(copy.width, 5 * 7 * 3 * 4);
  EXPECT_EQ(copy.rows, CopyAxis{});
  EXPECT_EQ(copy.blocks(), 1);
}

TEST(StridedCopyPlan, AnyCommonOrderOfTheAxesIsOneRow) {
  const StridedLayout layout = StridedLayout::dense({5, 7, 3}, 4, {1, 2, 0});
  EXPECT_EQ(plan(layout, layout).width, 5 * 7 * 3 * 4);
  const StridedLayout backwards = layout.sliced({Slice{.step = -1}, Slice{.step = -1}, Slice{.step = -1}});
  EXPECT_EQ(plan(backwards, backwards).width, 5 * 7 * 3 * 4);
  EXPECT_EQ(plan(backwards, backwards).destination_offset, 0);
}

TEST(StridedCopyPlan, PaddedRowsAreOneBlock) {
  const CopyPlan copy = plan(StridedLayout({5, 7}, {12, 1}, 4), StridedLayout({5, 7}, {9, 1}, 4));
  EXPECT_EQ(copy.width, 28);
  EXPECT_EQ(copy.rows, (CopyAxis{5, 48, 36}));
  EXPECT_EQ(copy.slices, CopyAxis{});
  EXPECT_THAT(copy.loops, IsEmpty());
}

TEST(StridedCopyPlan, ABoxWithinABoxIsOneBlock) {
  const StridedLayout box =
      StridedLayout({6, 8, 10}, 4).sliced({Slice{.stop = 4}, Slice{.start = 2}, Slice{.stop = 7}});
  const CopyPlan copy = plan(box.to_dense(), box);
  EXPECT_EQ(copy.width, 28);
  EXPECT_EQ(copy.rows, (CopyAxis{6, 28, 40}));
  EXPECT_EQ(copy.slices, (CopyAxis{4, 6 * 28, 8 * 40}));
  EXPECT_EQ(copy.source_offset, 2 * 40);
  EXPECT_EQ(copy.blocks(), 1);
}

TEST(StridedCopyPlan, ATransposedMatrixTakesOneBlockPerRow) {
  const CopyPlan copy = plan(StridedLayout({5, 70}, 4), StridedLayout({70, 5}, 4).transposed());
  EXPECT_EQ(copy.width, 4);
  EXPECT_EQ(copy.rows, (CopyAxis{70, 4, 20})) << "the longer axis is the one within the block";
  EXPECT_THAT(copy.loops, ElementsAre(CopyAxis{5, 280, 4}));
}

TEST(StridedCopyPlan, RepeatedAndOpposedAxesAreGoneAlongOneByOne) {
  EXPECT_THAT(plan(StridedLayout({5, 7}, 4), StridedLayout({7}, 4).broadcast_to({5, 7})).loops,
              ElementsAre(CopyAxis{5, 28, 0}));
  const CopyPlan opposed = plan(StridedLayout({5}, 4), StridedLayout({5}, 4)[Slice{.step = -1}]);
  EXPECT_THAT(opposed.loops, ElementsAre(CopyAxis{5, 4, -4}));
  EXPECT_EQ(opposed.source_offset, 16);
}

TEST(StridedCopyPlan, RowsFurtherApartThanTheDriverTakesAreGoneAlongOneByOne) {
  const StridedLayout far({3, 7}, {max_pitch, 1}, 4);
  EXPECT_THAT(plan(StridedLayout({3, 7}, 4), far).loops, ElementsAre(CopyAxis{3, 28, max_pitch * 4}));
}

TEST(StridedCopyPlan, SlicesThatAreNoWholeNumberOfRowsApartAreGoneAlongOneByOne) {
  const CopyPlan copy = plan(StridedLayout({2, 3, 7}, 4), StridedLayout({2, 3, 7}, {35, 9, 1}, 4));
  EXPECT_EQ(copy.rows, (CopyAxis{3, 28, 36}));
  EXPECT_THAT(copy.loops, ElementsAre(CopyAxis{2, 84, 140}));
}

}  // namespace
}  // namespace cuprum::core
