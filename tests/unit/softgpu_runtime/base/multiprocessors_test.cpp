// Sets of multiprocessors and the rules of their division, against a list of single ones.
#include "softgpu/runtime/base/multiprocessors.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace softgpu::runtime {
namespace {

std::set<unsigned> numbers(const MultiprocessorSet& set) {
  std::set<unsigned> all;
  set.for_each_range([&](unsigned first, unsigned count) {
    for (unsigned i = first; i < first + count; ++i) EXPECT_TRUE(all.insert(i).second) << i << " is there twice";
  });
  return all;
}

TEST(Multiprocessors, AreTakenFromTheFront) {
  MultiprocessorSet all = MultiprocessorSet::first(10);
  const MultiprocessorSet part = all.take(4);
  EXPECT_EQ(numbers(part), (std::set<unsigned>{0, 1, 2, 3}));
  EXPECT_EQ(numbers(all), (std::set<unsigned>{4, 5, 6, 7, 8, 9}));
  EXPECT_FALSE(part.overlaps(all));
}

TEST(Multiprocessors, ASetHasOneForm) {
  MultiprocessorSet rest = MultiprocessorSet::first(6);
  const MultiprocessorSet a = rest.take(2), b = rest.take(2);
  MultiprocessorSet joined = rest;
  joined.add(a);
  joined.add(b);
  EXPECT_EQ(joined, MultiprocessorSet::first(6));
}

// Takes and puts back at random, beside sets of numbers.
TEST(Multiprocessors, TakenAndPutBackAreNeverLost) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 values(seed);
    const auto random = [&](std::size_t below) { return static_cast<unsigned>(values() % below); };
    MultiprocessorSet free = MultiprocessorSet::first(1 + random(200));
    std::set<unsigned> expected = numbers(free);
    std::vector<MultiprocessorSet> parts;
    for (int step = 0; step < 40; ++step) {
      if (random(2) == 0 && free.count() > 0) {
        parts.push_back(free.take(1 + random(free.count())));
        for (const unsigned number : numbers(parts.back())) ASSERT_EQ(expected.erase(number), 1u);
      } else if (!parts.empty()) {
        const std::size_t which = random(parts.size());
        ASSERT_FALSE(free.overlaps(parts[which]));
        for (const unsigned number : numbers(parts[which])) expected.insert(number);
        free.add(parts[which]);
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(which));
      }
      ASSERT_EQ(numbers(free), expected);
      ASSERT_EQ(free.count(), expected.size());
    }
  }
}

TEST(PartitionRules, AreThoseOfTheComputeCapability) {
  const auto is = [](PartitionRules rules, unsigned smallest, unsigned alignment) {
    EXPECT_EQ(rules.smallest, smallest);
    EXPECT_EQ(rules.alignment, alignment);
  };
  is(partition_rules(61, 20), 2, 2);
  is(partition_rules(75, 40), 2, 2);
  is(partition_rules(86, 84), 4, 2);
  is(partition_rules(90, 132), 8, 8);
  is(partition_rules(120, 170), 8, 8);
}

TEST(PartitionRules, AreFinerForDevicesThatCouldNotBeDividedOtherwise) {
  EXPECT_EQ(partition_rules(90, 16).smallest, 8u);
  EXPECT_EQ(partition_rules(90, 15).smallest, 2u);
  EXPECT_EQ(partition_rules(90, 2).smallest, 2u);
  EXPECT_EQ(partition_rules(90, 1).smallest, 1u);
  EXPECT_EQ(partition_rules(80, 7).smallest, 2u);
}

TEST(EqualParts, AreRoundedUpAndAsManyAsFit) {
  const auto is = [](EqualParts parts, unsigned count, unsigned size) {
    EXPECT_EQ(parts.count, count);
    EXPECT_EQ(parts.size, size);
  };
  is(equal_parts(132, {8, 8}, 2, 72), 1, 72);
  is(equal_parts(132, {8, 8}, 6, 11), 6, 16);
  is(equal_parts(132, {2, 2}, 6, 11), 6, 12);
  is(equal_parts(132, {8, 8}, 1000, 0), 16, 8);
  is(equal_parts(132, {8, 8}, 2, 128), 1, 128);
  is(equal_parts(132, {8, 8}, 2, 129), 1, 132);  // as an H200 has it
  is(equal_parts(132, {8, 8}, 1, 132), 1, 132);
  is(equal_parts(132, {8, 8}, 1, 133), 0, 0);
  is(equal_parts(132, {8, 8}, 1, ~0U), 0, 0);
  is(equal_parts(0, {2, 2}, 1, 0), 0, 0);
}

}  // namespace
}  // namespace softgpu::runtime
