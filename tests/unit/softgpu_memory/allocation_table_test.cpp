#include "softgpu/memory/allocation_table.hpp"

#include <gtest/gtest.h>

#include <array>

namespace softgpu::memory {
namespace {

class Table : public testing::Test {
 protected:
  std::byte* at(std::size_t offset) { return memory_.data() + offset; }
  bool add(std::size_t offset, std::size_t size, std::uint64_t context = 0) {
    return table_.insert({.base = at(offset), .size = size, .context = context});
  }
  std::array<std::byte, 1000> memory_{};
  AllocationTable table_;
};

TEST_F(Table, FindsTheAllocationAnAddressIsIn) {
  add(100, 50);
  add(200, 50);
  EXPECT_EQ(table_.find(at(100))->base, at(100));
  EXPECT_EQ(table_.find(at(149))->base, at(100));
  EXPECT_EQ(table_.find(at(225))->base, at(200));
  EXPECT_FALSE(table_.find(at(99)));
  EXPECT_FALSE(table_.find(at(150)));
  EXPECT_FALSE(table_.find(at(250)));
}

TEST_F(Table, KnowsHowMuchIsLeftFromAnAddress) {
  add(100, 50);
  EXPECT_EQ(table_.extent(at(100))->bytes, 50u);
  EXPECT_EQ(table_.extent(at(149))->bytes, 1u);
  EXPECT_FALSE(table_.extent(at(150)));
}

TEST_F(Table, RefusesOverlaps) {
  EXPECT_TRUE(add(100, 50));
  EXPECT_FALSE(add(100, 50));
  EXPECT_FALSE(add(149, 10));
  EXPECT_FALSE(add(90, 11));
  EXPECT_FALSE(add(90, 100));
  EXPECT_TRUE(add(150, 10));
  EXPECT_TRUE(add(90, 10));
}

TEST_F(Table, ErasesByTheFirstByteOnly) {
  add(100, 50);
  EXPECT_FALSE(table_.erase(at(101)));
  EXPECT_EQ(table_.erase(at(100))->size, 50u);
  EXPECT_FALSE(table_.erase(at(100)));
  EXPECT_FALSE(table_.find(at(120)));
}

TEST_F(Table, GivesIdsThatAreNeverUsedAgain) {
  add(100, 50);
  const auto first = table_.erase(at(100))->id;
  add(100, 50);
  EXPECT_NE(table_.find(at(100))->id, first);
}

TEST_F(Table, HandsOverWhatAContextLeaves) {
  add(0, 10, 1);
  add(10, 10, 2);
  add(20, 10, 1);
  std::size_t bytes = 0;
  table_.erase_context(1, [&](const Allocation& allocation) { bytes += allocation.size; });
  EXPECT_EQ(bytes, 20u);
  EXPECT_FALSE(table_.find(at(0)));
  EXPECT_TRUE(table_.find(at(10)));
}

}  // namespace
}  // namespace softgpu::memory
