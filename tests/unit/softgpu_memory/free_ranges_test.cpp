#include "softgpu/memory/free_ranges.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace softgpu::memory {
namespace {

TEST(FreeRanges, HasNothingAtFirst) {
  FreeRanges ranges;
  EXPECT_FALSE(ranges.take(1, 1));
  EXPECT_FALSE(ranges.take_at(0, 1));
}

TEST(FreeRanges, TakesFromTheSmallestThatFits) {
  FreeRanges ranges;
  ranges.give(0, 100);
  ranges.give(1000, 10);
  EXPECT_EQ(ranges.take(10, 1), 1000u);
  EXPECT_EQ(ranges.take(10, 1), 0u);
}

TEST(FreeRanges, Aligns) {
  FreeRanges ranges;
  ranges.give(3, 100);
  EXPECT_EQ(ranges.take(10, 16), 16u);
  EXPECT_EQ(ranges.take(13, 1), 3u) << "what was skipped is still free";
}

TEST(FreeRanges, TakesTheRestExactly) {
  FreeRanges ranges;
  ranges.give(10, 10);
  EXPECT_EQ(ranges.take(10, 1), 10u);
  EXPECT_FALSE(ranges.take(1, 1));
}

TEST(FreeRanges, TakesWhatIsNamed) {
  FreeRanges ranges;
  ranges.give(100, 100);
  EXPECT_TRUE(ranges.take_at(120, 10));
  EXPECT_FALSE(ranges.take_at(129, 1));
  EXPECT_FALSE(ranges.take_at(110, 11));
  EXPECT_TRUE(ranges.take_at(110, 10));
  EXPECT_TRUE(ranges.take_at(130, 70));
  EXPECT_FALSE(ranges.take_at(199, 2));
  EXPECT_FALSE(ranges.take_at(99, 2));
}

TEST(FreeRanges, HugeAlignmentsAreRefused) {
  FreeRanges ranges;
  ranges.give(std::uint64_t{1} << 46, std::size_t{1} << 30);
  EXPECT_FALSE(ranges.take(4096, std::size_t{1} << 63));
}

TEST(FreeRanges, AreOneAgainWhenAllIsGivenBack) {
  constexpr std::size_t kAll = 10000;
  FreeRanges ranges;
  ranges.give(0, kAll);
  std::mt19937 random(7);
  std::vector<std::pair<std::uint64_t, std::size_t>> taken;
  for (int round = 0; round < 5000; ++round) {
    const std::size_t count = 1 + random() % 200;
    const auto first = random() % 2 == 0 ? ranges.take(count, 1 + random() % 8) : std::nullopt;
    if (first) {
      taken.emplace_back(*first, count);
    } else if (!taken.empty()) {
      const std::size_t which = random() % taken.size();
      ranges.give(taken[which].first, taken[which].second);
      taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
  for (const auto& [first, count] : taken) ranges.give(first, count);
  EXPECT_EQ(ranges.take(kAll, 1), 0u);
}

}  // namespace
}  // namespace softgpu::memory
