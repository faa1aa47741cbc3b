#include "softgpu/memory/page_ranges.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace softgpu::memory {
namespace {

class PageRangesTest : public testing::Test {
 protected:
  static const void* page(std::size_t number, std::size_t offset = 0) {
    return reinterpret_cast<const void*>(number * kPageBytes + offset);
  }
  void set(std::size_t first, std::size_t pages, int value) {
    ranges_.update(page(first), pages * kPageBytes, [&](int& v) { v = value; });
  }
  // One value for each part of the range.
  std::vector<int> values(std::size_t first, std::size_t pages) {
    std::vector<int> found;
    ranges_.visit(page(first), pages * kPageBytes, [&](int v) { found.push_back(v); });
    return found;
  }

  PageRanges<int> ranges_;
};

TEST_F(PageRangesTest, NothingSaidIsTheDefault) { EXPECT_EQ(values(5, 3), std::vector<int>{0}); }

TEST_F(PageRangesTest, HoldsForItsPagesOnly) {
  set(10, 2, 7);
  EXPECT_EQ(values(10, 2), std::vector<int>{7});
  EXPECT_EQ(values(9, 1), std::vector<int>{0});
  EXPECT_EQ(values(12, 1), std::vector<int>{0});
  EXPECT_EQ(values(9, 4), (std::vector<int>{0, 7, 0}));
}

TEST_F(PageRangesTest, ReachesToTheBordersOfPages) {
  ranges_.update(page(4, 100), kPageBytes, [](int& v) { v = 1; });
  EXPECT_EQ(values(4, 2), std::vector<int>{1});
  EXPECT_EQ(values(6, 1), std::vector<int>{0});
}

TEST_F(PageRangesTest, LaterOnesSplitEarlierOnes) {
  set(0, 10, 1);
  set(4, 2, 2);
  EXPECT_EQ(values(0, 10), (std::vector<int>{1, 2, 1}));
  ranges_.update(page(3), 4 * kPageBytes, [](int& v) { v += 10; });
  EXPECT_EQ(values(0, 10), (std::vector<int>{1, 11, 12, 11, 1}));
}

TEST_F(PageRangesTest, ForgettingJoinsWhatIsLeft) {
  set(0, 4, 1);
  set(4, 4, 2);
  set(8, 4, 1);
  ranges_.forget(page(2), 8 * kPageBytes);
  EXPECT_EQ(values(0, 12), (std::vector<int>{1, 0, 1}));
  ranges_.forget(page(0), 12 * kPageBytes);
  EXPECT_EQ(values(0, 20), std::vector<int>{0});
}

}  // namespace
}  // namespace softgpu::memory
